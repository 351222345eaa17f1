"""How long a task waits after a failure: exponential, capped, with jitter that the caller draws."""

from __future__ import annotations

MAX_EXPONENT = 30


def backoff_seconds(failures: int, *, base_seconds: float, cap_seconds: float, jitter: float) -> float:
    """min(cap, base * 2^(failures - 1)) * (0.5 + jitter), for the 1st, 2nd, … failure; jitter lies in [0, 1).

    The factor spreads tasks that failed together over half to one and a half of their wait. sweep.sql has the same
    formula for tasks that it takes back.
    """
    exponent = min(max(failures, 1) - 1, MAX_EXPONENT)
    return float(min(cap_seconds, base_seconds * 2**exponent) * (0.5 + jitter))
