"""The documentation says what is so: every name in it exists, everything that exists is in it, its examples run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from sqlalchemy import Connection, Engine, text

from pipeline import config, errors
from pipeline.cli import COMMANDS
from pipeline.queue.statements import FOLDER
from tests import rendering
from tests.rendering import ROOT

DOCUMENTS = rendering.documents()
OPERATING = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
QUERYING = ROOT / "docs/querying.md"
VIEW = re.compile(r"CREATE (?:OR REPLACE )?VIEW (\w+)")
OWN_EXIT_CODES = {0, 3, 5, 6, 9, 130}  # of commands, not of errors
GIVE_UP_SECONDS = 300

every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@every_document
def test_what_is_rendered_from_the_code_is_as_the_code_says(path: Path) -> None:
    assert _read(path) == rendering.rendered(_read(path)), "run: python -m tests.rendering"


def test_every_block_has_its_place() -> None:
    places = [name for path in DOCUMENTS for name in re.findall(r"^<!-- end of ([a-z ]+) -->$", _read(path), re.M)]
    assert sorted(places) == sorted(rendering.BLOCKS)


# What exists is documented


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    everything = "".join(map(_read, DOCUMENTS))
    for command, context in rendering.leaves(name):
        assert command.help
        assert context.command_path in everything
        for parameter in command.params:
            names = [*parameter.opts, *parameter.secondary_opts] if isinstance(parameter, click.Option) else []
            missing = [each for each in names if not re.search(rf"(?<![\w-]){re.escape(each)}(?![\w-])", everything)]
            assert missing == [], context.command_path


def _keys(settings: Any, section: str = "") -> Iterator[tuple[str, Any]]:
    for each in fields(settings):
        value = getattr(settings, each.name)
        if is_dataclass(value):
            yield from _keys(value, f"{each.name}.")
        elif each.name != "home":
            yield section + each.name, value


KEYS = dict(_keys(config.Settings(home=Path())))


def _rows(page: str) -> dict[str, list[str]]:
    """The rows of a page's tables, by what stands in the first cell."""
    lines = (line.strip()[1:-1] for line in page.splitlines() if line.startswith("| "))
    rows = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines)
    return {row[0].strip("`"): row for row in rows}


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_documented_with_its_default_and_its_unit(key: str) -> None:
    _, unit, default, meaning = _rows(OPERATING)[key]
    assert len(meaning.split()) >= 3
    if isinstance(KEYS[key], dict):
        assert [each.strip("`") for each in default.split(", ")] == list(KEYS[key])
    elif KEYS[key] == "":
        assert default == "empty"
    else:
        shipped = KEYS[key] if not isinstance(KEYS[key], Path) else str(KEYS[key])
        assert yaml.safe_load(default.strip("`")) == shipped
    for ending, wanted in (("_seconds", "s"), ("_minutes", "min"), ("_pages", "pages")):
        assert unit == wanted or not key.endswith(ending)


def test_no_key_is_documented_that_does_not_exist() -> None:
    sections = "|".join({key.partition(".")[0] for key in KEYS if "." in key})
    for path in DOCUMENTS:
        for name in re.findall(rf"`((?:{sections})\.[a-z_]+)`", _read(path)):
            assert name in KEYS or name.endswith((".md", ".py", ".sql", ".yaml")), f"{path.name}: {name}"


def test_every_exit_code_is_documented() -> None:
    found = {int(code) for code in re.findall(r"^\| (\d+) \| ", OPERATING, re.M)}
    assert found == OWN_EXIT_CODES | {each.exit_code for each in _errors(errors.DocleaseError)}


def _errors(kind: type[errors.DocleaseError]) -> Iterator[type[errors.DocleaseError]]:
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == errors.__name__:
            yield from _errors(each)


def test_every_view_is_documented() -> None:
    migrations = "".join(_read(path) for path in sorted((ROOT / "migrations/versions").glob("*.sql")))
    assert set(VIEW.findall(migrations)) <= set(re.findall(r"^### (\w+)$", _read(QUERYING), re.M))


# What is documented exists


@every_document
def test_every_test_that_is_named_exists(path: Path) -> None:
    tests = {name for file in (ROOT / "tests").rglob("*.py") for name in re.findall(r"def (\w+)\(", _read(file))}
    named = set(re.findall(r"`(test_\w+)`", _read(path)))
    named |= set(re.findall(r"`test_a_race_has_one_winner` \(`(\w+)`\)", _read(path)))
    assert named <= tests


@every_document
def test_every_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(_read(path))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        assert page.exists(), target
        assert not heading or heading in _headings(_read(page)), target


@every_document
def test_every_file_and_statement_that_is_named_exists(path: Path) -> None:
    page = _without_code(_read(path))
    for name in re.findall(r"`((?:pipeline|handlers|tests|migrations|docs)/[\w./]*)`", page):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"`(\w+\.sql)`", page):
        assert (FOLDER / name).exists(), name


def _without_code(page: str) -> str:
    return re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)


def _headings(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", _without_code(page), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


# What is shown works


@pytest.mark.slow
def test_the_format_and_the_handler_of_the_documentation_keep_the_contract(tmp_path: Path) -> None:
    """In a copy of the source, as somebody would add them: one file each, and one that makes samples."""
    for part in ("pipeline", "handlers", "tests", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tmp_path / part)
    for name, code in _files(_read(ROOT / "docs/formats.md")):
        assert not (tmp_path / name).exists(), name
        (tmp_path / name).write_text(code, encoding="utf-8")
    chosen = ["tests/documents/test_formats.py", "tests/handlers/test_conformance.py"]
    about = ["-k", "gzipped or delivery_note or names"]
    report = _run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", *chosen, *about)
    assert " passed" in report
    note = tmp_path / "note.txt.gz"
    build = (
        "from tests.documents.samples.gzipped import build; import sys; sys.stdout.buffer.write(build([sys.argv[1]]))"
    )
    note.write_bytes(_output(tmp_path, "-c", build, "DELIVERY NOTE\nDelivery note no.   LS-2041    3 May"))
    told = _output(tmp_path, "-c", READ_ONE, str(note)).decode().splitlines()
    assert told == ["delivery_note", "LS-2041", "Delivery note no. LS-2041 3 May", "True"]


READ_ONE = """
import sys
from pathlib import Path
from pipeline import handling
from pipeline.documents import formats
from pipeline.work import Job, process
job = Job(Path(sys.argv[1]).open("rb"), "note.txt.gz")
nothing = lambda _: None
told = {"on_open": nothing, "on_page": nothing, "on_attachment": nothing}
result = process(job, formats.discover(), handling.discover(), **told).result
(found,) = result["fields"]["delivery_note_number"]
print(result["document_type"], found["value"], found["snippet"], 0 <= result["scores"]["delivery_note"] <= 1, sep="\\n")
"""


def _files(page: str) -> Iterator[tuple[str, str]]:
    """The code blocks that begin with the name of their file."""
    for code in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S):
        first, _, rest = code.partition("\n")
        yield first.removeprefix("# "), rest


def _run(folder: Path, *arguments: str) -> str:
    return _output(folder, "-m", *arguments).decode()


def _output(folder: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, timeout=GIVE_UP_SECONDS, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return done.stdout


def _statements(title: str) -> str:
    """The SQL block of docs/operating.md with that first line."""
    found = re.search(rf"^```sql\n-- {title}\n(.*?)^```$", OPERATING, re.M | re.S)
    assert found, title
    return found[1]


@pytest.fixture
def roles(engine: Engine) -> Iterator[Connection]:
    """A transaction in which the logins of the documentation exist; it is rolled back."""
    with engine.connect() as connection:
        for title in ("logins", "limits of sessions behind a pooler"):
            connection.exec_driver_sql(_statements(title))
        yield connection
        connection.rollback()


def test_a_worker_with_the_documented_rights_can_do_its_work(roles: Connection) -> None:
    roles.execute(text("SET ROLE docs_worker"))
    for name in ("claim", "promote", "sweep", "calibrate", "live"):
        values = dict.fromkeys(re.findall(r"(?<!:):([a-z_]+)", _read(FOLDER / f"{name}.sql")), 1)
        roles.execute(text(_read(FOLDER / f"{name}.sql")), {**values, "worker": "w", "suspects": True})
    roles.execute(text("RESET ROLE"))
    roles.execute(text("SET ROLE docs_run"))
    roles.execute(text("INSERT INTO inbox_scans VALUES ('inbox', now(), 0)"))


def test_a_reader_with_the_documented_rights_reads_and_writes_nothing(roles: Connection) -> None:
    roles.execute(text("SET ROLE docs_reader"))
    for view in ("documents_v", "invoices", "contracts", "pages_v", "queue_status", "failures", "recoveries"):
        roles.execute(text(f"SELECT * FROM {view}"))
    with pytest.raises(Exception, match="permission denied"):
        roles.execute(text("UPDATE tasks SET priority = 1"))
