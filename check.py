"""Everything that must hold before a commit, in one command: python check.py [ARGUMENTS FOR PYTEST].

Without arguments all tests run, in three processes with a database each: most of them wait for others most of the time.
"""

import subprocess
import sys

PYTHON = [sys.executable, "-m"]
CHECKS = {
    "format": [*PYTHON, "ruff", "format", "--check", "."],
    "lint": [*PYTHON, "ruff", "check", "."],
    "types": [*PYTHON, "mypy"],
    "layers": [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
}


def main() -> int:
    """Run all checks, then the tests; name what failed. The exit code is 0 only if nothing did."""
    failed = [name for name, command in CHECKS.items() if not passes(name, command)]
    if not passes("tests", [*PYTHON, "pytest", *(sys.argv[1:] or ["-n", "3", "--dist", "worksteal"])]):
        failed.append("tests")
    if failed:
        sys.stderr.write(f"failed: {', '.join(failed)}\n")
    return len(failed)


def passes(name: str, command: list[str]) -> bool:
    """Run one check and let it print."""
    sys.stderr.write(f"== {name}\n")
    sys.stderr.flush()
    return subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    raise SystemExit(main())
