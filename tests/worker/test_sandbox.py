"""A parser child can do what it is for and nothing else, as root and as an ordinary user. All with real processes."""

from __future__ import annotations

import functools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.worker.measures import measures, probe
from tests.worker import attempts
from tests.worker.confined_child import FILE_BYTES, MEMORY_BYTES, MODULE
from tests.worker.shop import ROOT, until

pytestmark = pytest.mark.slow

ORDINARY = 65_534
REFUSALS = {"EPERM", "EACCES", "ENOSYS"}
FROM_FILTER = {"no_sockets", "no_processes", "no_signals", "no_file_modes", "few_system_calls"}
ALL = {measure.name for measure in measures()}


@dataclass(frozen=True, slots=True)
class Person:
    """Who starts a parser, and with which interpreter."""

    name: str
    python: str
    uid: int


@functools.cache
def _public_python() -> str:
    """An interpreter that every user can run; skips the test where there is none."""
    if os.geteuid() != 0:
        return sys.executable
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            if subprocess.run([python, "-c", check], user=ORDINARY, check=False, cwd="/").returncode == 0:
                return python
        except OSError:
            continue
    return pytest.skip("no interpreter here can be run by an ordinary user")


@pytest.fixture(params=["root", "root, readable for all", "ordinary user"], scope="module")
def person(request: pytest.FixtureRequest) -> Person:
    """Everybody who may start a worker."""
    is_root = os.geteuid() == 0
    if request.param == "ordinary user":
        return Person(request.param, _public_python(), ORDINARY if is_root else os.geteuid())
    if not is_root:
        pytest.skip("needs root")
    return Person(request.param, sys.executable if request.param == "root" else _public_python(), 0)


class Play:
    """One launch of an act, in a scratch folder and with a folder outside of it."""

    def __init__(self, person: Person, act: str, *, base: Path) -> None:
        self.scratch, self.outside = base / "scratch", base / "outside"
        self.scratch.mkdir(mode=0o700)
        attempts.lay_out(self.outside)
        for path in (self.scratch, self.outside, *self.outside.iterdir()):
            os.chown(path, person.uid, -1)
        self._channel, theirs = socket.socketpair()
        with theirs:
            self.process = self._start(person, act, theirs)
        with tempfile.TemporaryFile() as document:
            os.fchmod(document.fileno(), 0o644)
            document.write(b"a document")
            document.seek(0)
            socket.send_fds(self._channel, [b"read this"], [document.fileno()])
        self.pid = int(self.hear()["pid"])

    def _start(self, person: Person, act: str, channel: socket.socket) -> subprocess.Popen[bytes]:
        arguments = [str(self.outside)] if act.removeprefix("old:").startswith("try") else []
        changes_user = os.geteuid() != person.uid
        return subprocess.Popen(
            [person.python, "-P", "-m", MODULE, "launch", act, *arguments],
            stdin=channel.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.scratch,
            env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(self.scratch)},
            start_new_session=True,
            user=person.uid if changes_user else None,
            group=person.uid if changes_user else None,
            extra_groups=[] if changes_user else None,
        )

    def hear(self) -> dict[str, Any]:
        """The next thing that was said."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode()
        return dict(json.loads(line))

    def end(self) -> None:
        """Leave nothing of it behind."""
        self._channel.close()
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.kill()
        self.process.communicate()


Stage = Callable[..., Play]


@pytest.fixture(scope="module")
def play(person: Person) -> Iterator[Stage]:
    """Start an act as a person; everything is removed afterwards."""
    plays: list[Play] = []
    # Not pytest's own folder, whose path is private to this user.
    with tempfile.TemporaryDirectory(prefix="doclease-sandbox-") as folder:
        Path(folder).chmod(0o755)

        def _play(act: str) -> Play:
            base = Path(folder, str(len(plays)))
            base.mkdir()
            plays.append(Play(person, act, base=base))
            return plays[-1]

        yield _play
        for each in plays:
            each.end()


@pytest.fixture(scope="module")
def tried(play: Stage) -> dict[str, Any]:
    """What came of all attempts in the sandbox."""
    return play("try").hear()


@pytest.fixture(scope="module")
def tried_free(play: Stage) -> dict[str, Any]:
    """What came of them without it."""
    return play("try_free").hear()


def test_the_attempts_are_real_without_the_sandbox_they_succeed(tried_free: dict[str, Any]) -> None:
    failed = {name: outcome for name, outcome in tried_free["outcomes"].items() if outcome != "done"}
    assert set(failed) <= attempts.ALWAYS_HARD, failed


def test_every_measure_is_in_force_here(tried: dict[str, Any], person: Person) -> None:
    missing = ALL - set(tried["measures"])
    # The interpreter of this test may stand where only root can read it; then the child stays root, without powers.
    assert missing <= ({"unprivileged_user"} if person.name == "root" else set())
    assert set(tried["measures"]) <= ALL


@pytest.mark.parametrize("attempt", attempts.FORBIDDEN)
def test_it_cannot(tried: dict[str, Any], attempt: str) -> None:
    assert tried["outcomes"][attempt] in REFUSALS


@pytest.mark.parametrize("attempt", attempts.NEEDED)
def test_it_can(tried: dict[str, Any], attempt: str) -> None:
    assert tried["outcomes"][attempt] == "done"


def test_nothing_outside_is_changed(play: Stage) -> None:
    act = play("try")
    act.hear()
    assert attempts.is_unharmed(act.outside)
    assert [path.name for path in act.scratch.iterdir()] == ["attachment"]


def test_it_has_no_capabilities_and_no_groups(tried: dict[str, Any], person: Person) -> None:
    sets = {name: int(value, 16) for name, value in tried["sets"].items() if name != "CapBnd"}
    assert not any(sets.values()), sets
    if person.uid == 0:
        assert int(tried["sets"]["CapBnd"], 16) == 0
    if person.name == "root, readable for all":
        assert tried["uid"] > ORDINARY
        assert tried["groups"] == []


def test_its_parent_can_read_and_remove_what_it_wrote(play: Stage) -> None:
    act = play("try")
    act.hear()
    assert (act.scratch / "attachment").read_bytes() == b"an attachment"
    assert act.scratch.stat().st_uid == act.outside.stat().st_uid
    shutil.rmtree(act.scratch)


def test_no_process_is_left_in_its_group(play: Stage) -> None:
    act = play("try")
    act.hear()
    assert act.hear()["exit"] == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(act.pid, 0)


def test_too_much_memory_is_a_memory_error(play: Stage) -> None:
    said = play("memory").hear()
    assert said["outcome"] == "MemoryError"
    assert said["bytes"] < MEMORY_BYTES


def test_a_file_grows_to_its_limit_and_no_further(play: Stage) -> None:
    said = play("write").hear()
    assert said["outcome"] == "EFBIG"
    assert said["bytes"] == FILE_BYTES


def test_a_crash_leaves_no_core(play: Stage) -> None:
    act = play("abort")
    assert act.hear() == {"exit": -signal.SIGABRT, "dumped": False}
    assert list(act.scratch.iterdir()) == []


def test_it_dies_with_its_parent(play: Stage) -> None:
    act = play("wait")
    act.hear()
    descriptor = os.pidfd_open(act.pid)
    act.process.kill()
    ended, _, _ = select.select([descriptor], [], [], 60)
    os.close(descriptor)
    assert ended, "the child outlives its parent"
    until(lambda: not Path(f"/proc/{act.pid}").exists(), "the child's end")


def test_its_parent_sees_what_it_uses(play: Stage) -> None:
    act = play("wait")
    act.hear()
    for name in ("stat", "statm", "status"):
        seen = subprocess.run(["cat", f"/proc/{act.pid}/{name}"], capture_output=True, check=False)
        assert seen.stdout, name


def test_on_an_old_kernel_it_works_and_says_what_is_missing(play: Stage) -> None:
    said = play("old:try").hear()
    missing = ALL - set(said["measures"])
    assert missing - {"unprivileged_user"} == {*FROM_FILTER, "own_files_only", "no_network"}
    assert {name: said["outcomes"][name] for name in attempts.NEEDED} == dict.fromkeys(attempts.NEEDED, "done")


def test_with_threads_it_claims_only_what_holds_for_all_of_them(play: Stage) -> None:
    said = play("late").hear()
    assert said["outcome"] == "EPERM"
    assert set(said["measures"]) >= FROM_FILTER
    assert not set(said["measures"]) & {"own_files_only", "no_capabilities"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")
def test_root_stays_root_where_another_user_could_not_reach_scratch(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    act = Play(Person("root", _public_python(), 0), "try", base=closed)
    said = act.hear()
    act.end()
    assert "unprivileged_user" not in said["measures"]
    assert (said["uid"], said["outcomes"]["write in scratch"]) == (0, "done")
    assert (act.scratch.stat().st_gid, act.scratch.stat().st_mode & 0o777) == (closed.stat().st_gid, 0o700)


def test_a_health_check_learns_what_is_in_force_here() -> None:
    assert {"memory", "no_core_dumps", "dies_with_parent", "own_group"} <= set(probe()) <= ALL


def test_every_measure_is_explained_and_documented() -> None:
    assert all(measure.prevents.endswith(".") and measure.remedy.endswith(".") for measure in measures())
    assert len(ALL) == len(measures())
    documented = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    for measure in measures():
        assert f"| `{measure.name}` | {measure.prevents} |" in documented
