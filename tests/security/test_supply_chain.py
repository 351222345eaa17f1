"""What doclease stands on is pinned by hash, can be listed, and is looked up for known vulnerabilities."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import check

ROOT = Path(__file__).resolve().parents[2]
LOCK: dict[str, Any] = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
OFFICIAL = "https://files.pythonhosted.org/"

UV = [sys.executable, "-m", "uv"]
needs_uv = pytest.mark.skipif(find_spec("uv") is None, reason="uv is not installed: pip install uv")


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def _locked() -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in LOCK["package"] if each["name"] != PROJECT["name"]}


def test_every_file_of_every_package_is_pinned_by_its_hash_and_comes_from_the_index() -> None:
    for name, package in _locked().items():
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else [])]
        assert files, name
        assert package["source"] == {"registry": "https://pypi.org/simple"}, name
        assert all(SHA256.fullmatch(each["hash"]) and each["url"].startswith(OFFICIAL) for each in files), name


def test_every_dependency_is_in_the_lock() -> None:
    optional = [each for extra in PROJECT["optional-dependencies"].values() for each in extra]
    assert {_name(each) for each in [*PROJECT["dependencies"], *optional]} <= _locked().keys()


@needs_uv
def test_the_lock_is_what_the_project_asks_for() -> None:
    done = subprocess.run(
        [*UV, "lock", "--check", "--offline"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    if "offline" in done.stderr.lower() or "cache" in done.stderr.lower():
        pytest.skip("uv has nothing of the index in its cache; run: uv lock --check")
    assert done.returncode == 0, done.stderr


@needs_uv
def test_the_documented_command_lists_what_a_release_consists_of() -> None:
    page = (ROOT / "docs/security.md").read_text("utf-8")
    command = re.search(r"^(uv export .*cyclonedx.*)$", page, re.M)
    assert command
    arguments = command[1].partition(">")[0].split()[1:]
    done = subprocess.run([*UV, *arguments, "--offline"], cwd=ROOT, capture_output=True, check=True, timeout=120)
    bill = json.loads(done.stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    listed = {each["name"]: each for each in bill["components"]}
    assert {_name(each) for each in PROJECT["dependencies"]} <= listed.keys()
    assert listed.keys() <= _locked().keys()
    assert all(each["purl"].startswith("pkg:pypi/") and each["version"] for each in listed.values())
    assert "pytest" not in listed


FLAW = {"name": "somepackage", "version": "1.0", "vulns": [{"id": "PYSEC-2026-1"}]}
WELL = {"name": "another", "version": "2.0", "vulns": []}
UNKNOWN = {"name": "third", "skip_reason": "Dependency not found on PyPI and could not be audited: third (1)"}


def test_a_known_vulnerability_fails_the_check_and_is_named() -> None:
    assert check.verdict(json.dumps({"dependencies": [WELL, FLAW, UNKNOWN]}), "") == (
        False,
        "somepackage 1.0: PYSEC-2026-1",
    )


def test_a_check_that_looked_nothing_up_passes_and_says_so() -> None:
    for answer, complaint, why in (
        ("", "Traceback …\nConnectionError: no route to host\n", "ConnectionError: no route to host"),
        ("", "/usr/bin/python: No module named pip_audit", "No module named pip_audit"),
        ("", "", "no answer"),
        (json.dumps({"dependencies": [UNKNOWN, UNKNOWN]}), "", "not found on PyPI"),
        (json.dumps({"dependencies": []}), "", "no packages"),
    ):
        fine, words = check.verdict(answer, complaint)
        assert fine
        assert words.startswith("not audited: ")
        assert why in words


def test_what_was_looked_up_is_counted() -> None:
    fine, words = check.verdict(json.dumps({"dependencies": [WELL, UNKNOWN]}), "")
    assert (fine, words) == (True, "1 of 2 packages looked up, no vulnerability known")
