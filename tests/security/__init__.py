"""What docs/security.md says, tried: each threat there names the test here that proves its measure."""
