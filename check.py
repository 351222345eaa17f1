"""Everything that must hold before a commit, in one command: python check.py [ARGUMENTS FOR PYTEST].

Without arguments all tests run, in three processes with a database each: most of them wait for others most of the time.
"""

import json
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
    if not audited():
        failed.append("audit")
    if not passes("tests", [*PYTHON, "pytest", *(sys.argv[1:] or ["-n", "3", "--dist", "worksteal"])]):
        failed.append("tests")
    if failed:
        say(f"failed: {', '.join(failed)}")
    return len(failed)


def passes(name: str, command: list[str]) -> bool:
    """Run one check and let it print."""
    say(f"== {name}")
    return subprocess.run(command, check=False).returncode == 0


def audited() -> bool:
    """Ask whether a vulnerability of what is installed is known. Where nobody can be asked it passes and says so."""
    say("== audit")
    quietly = ["--progress-spinner=off", "--timeout=10", "--format=json"]
    command = [*PYTHON, "pip_audit", "--skip-editable", *quietly]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fine, words = verdict(done.stdout, done.stderr)
    say(words)
    return fine


def verdict(answer: str, complaint: str) -> tuple[bool, str]:
    """What an answer of pip-audit means, in words. Not its exit code: that is 0 also when nothing was looked up."""
    try:
        found = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return True, f"not audited: {(complaint.strip().splitlines() or ['no answer'])[-1][:200]}"
    known = [each for each in found if "vulns" in each]
    if not known:
        return True, f"not audited: {found[0].get('skip_reason', 'nothing was found') if found else 'no packages'}"
    faults = [f"{each['name']} {each['version']}: {flaw['id']}" for each in known for flaw in each["vulns"]]
    return not faults, "\n".join(faults) or f"{len(known)} of {len(found)} packages looked up, no vulnerability known"


def say(words: str) -> None:
    """Tell beside the output of the checks."""
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
