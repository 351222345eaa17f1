"""Tests of the measurements: that they run, and that the documentation shows what they said."""
