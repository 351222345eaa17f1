"""Fuzzing: whatever bytes come from outside, a parser answers with pages or a named refusal, in time and in memory.

`python -m tests.fuzz --minutes 10` runs by hand, `test_fuzz.py` a small, seeded part of it in the suite.
"""
