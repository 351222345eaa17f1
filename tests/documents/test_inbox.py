"""A scan tells what is settled and complete by what it sees itself, and one odd entry hides no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config import InboxSettings, Rule
from pipeline.documents.inbox import NOTE_MARK, Scan, is_ignored, rule_for, scan
from pipeline.documents.writing import is_open_for_writing
from tests.documents.endings import KINDS
from tests.documents.samples import pdf

SETTINGS = InboxSettings(quiet_for_seconds=2, empty_grace_seconds=900)
WHOLE = pdf.build(["one page"])


class Scans:
    """Scans of a folder, one after the other, at the times that the test says."""

    def __init__(self, folder: Path, settings: InboxSettings = SETTINGS) -> None:
        self.folder = folder
        self.settings = settings
        self.last = Scan()

    def at(self, now: float) -> Scan:
        """Scan at a time."""
        self.last = scan(self.folder, self.settings, self.last, now)
        return self.last

    def settled_at(self, now: float) -> list[bytes]:
        """The paths of what is settled at a time."""
        return [found.path for found in self.at(now).settled]


def test_a_file_settles_once_it_stood_still_between_scans(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"words")
    os.utime(path, (0, 0))  # however old the file says it is
    scans = Scans(tmp_path)
    assert scans.settled_at(100) == []
    assert scans.settled_at(101.9) == []
    assert scans.settled_at(102) == [b"a.txt"]


@pytest.mark.parametrize("change", ["size", "mtime", "inode"])
def test_a_file_that_changes_starts_again(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"words")
    os.utime(path, ns=(10**9, 10**9))
    scans = Scans(tmp_path)
    scans.at(0)
    if change == "size":
        path.write_bytes(b"more words")
        os.utime(path, ns=(10**9, 10**9))
    elif change == "mtime":
        os.utime(path, ns=(10**9, 10**9 + 1))
    else:
        (tmp_path / "b").write_bytes(b"words")
        os.utime(tmp_path / "b", ns=(10**9, 10**9))
        (tmp_path / "b").rename(path)
    assert scans.settled_at(5) == []
    assert scans.settled_at(7) == [b"a.txt"]


def test_a_pdf_without_its_end_waits_ten_times_as_long(tmp_path: Path) -> None:
    (tmp_path / "cut.pdf").write_bytes(WHOLE[:200])
    (tmp_path / "whole.pdf").write_bytes(WHOLE)
    (tmp_path / "padded.pdf").write_bytes(WHOLE + bytes(1000))
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(3) == [b"padded.pdf", b"whole.pdf"]
    assert scans.settled_at(19.9) == [b"padded.pdf", b"whole.pdf"]
    assert scans.settled_at(20) == [b"cut.pdf", b"padded.pdf", b"whole.pdf"]


@pytest.mark.parametrize("kind", ["zip", "jpeg", "tiff", "old office", "heic", "xml", "mail"])
def test_whatever_has_an_end_is_waited_for_but_not_for_ever(tmp_path: Path, kind: str) -> None:
    content = KINDS[kind](2000).content
    (tmp_path / "cut").write_bytes(content[:-200])
    (tmp_path / "whole").write_bytes(content)
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(3) == [b"whole"]
    assert scans.last.next_in == 17
    assert scans.settled_at(20) == [b"cut", b"whole"]


def test_a_file_that_is_open_for_writing_is_waited_for_but_not_for_ever(tmp_path: Path) -> None:
    (tmp_path / "open.txt").write_bytes(b"words")
    (tmp_path / "read.txt").write_bytes(b"words")
    scans = Scans(tmp_path)
    with (tmp_path / "open.txt").open("ab") as writer, (tmp_path / "read.txt").open("rb") as reader:
        if is_open_for_writing(reader.fileno(), tmp_path / "read.txt") is None:
            pytest.skip("this file system does not tell")
        scans.at(0)
        assert scans.settled_at(3) == [b"read.txt"]
        assert scans.settled_at(20) == [b"open.txt", b"read.txt"]
        writer.write(b", more")
    assert scans.settled_at(21) == [b"read.txt"]
    assert sorted(scans.settled_at(23)) == [b"open.txt", b"read.txt"]


def test_a_file_that_stays_settled_is_looked_into_once(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(WHOLE)
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(3) == [b"a.pdf"]
    os.utime(path, ns=(10**9, path.stat().st_mtime_ns))  # as if nobody had read it since
    assert scans.settled_at(6) == [b"a.pdf"]
    assert path.stat().st_atime_ns == 10**9


def test_an_empty_file_may_be_a_placeholder_until_its_grace_is_over(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").touch()
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(899) == []
    assert scans.last.next_in == 1
    assert scans.settled_at(900) == [b"a.pdf"]


def test_a_placeholder_that_is_filled_is_a_file_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.touch()
    scans = Scans(tmp_path)
    scans.at(0)
    scans.at(500)
    path.write_bytes(WHOLE)
    assert scans.settled_at(501) == []
    assert scans.settled_at(503) == [b"a.pdf"]


def test_the_next_scan_is_due_when_the_first_file_may_settle(tmp_path: Path) -> None:
    scans = Scans(tmp_path)
    assert scans.at(0).next_in is None
    (tmp_path / "a.txt").write_bytes(b"words")
    assert scans.at(10).next_in == 2
    (tmp_path / "b.txt").write_bytes(b"words")
    assert scans.at(11.5).next_in == 0.5


@pytest.mark.parametrize(
    "name",
    [b".hidden", b".DS_Store", b"~$doc.docx", b"a.pdf.part", b"a.TMP", b"a.crdownload", b"@eaDir", b"Thumbs.db",
     b".stfolder", b"__MACOSX", b".doclease"],
)  # fmt: skip
def test_what_systems_and_programs_leave_about_is_ignored(tmp_path: Path, name: bytes) -> None:
    assert is_ignored(name)
    (tmp_path / os.fsdecode(name)).write_bytes(b"litter")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / os.fsdecode(name)).mkdir()
    (tmp_path / "folder" / os.fsdecode(name) / "a.txt").write_bytes(b"litter")
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(1000) == []
    assert sorted(scans.last.ignored) == sorted([name, b"folder/" + name])


def test_pipes_links_and_sockets_are_ignored_and_folders_are_entered_whatever_they_are_called(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    (tmp_path / "link.pdf").symlink_to("/etc/passwd")
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "new.pdf").mkdir()
    (tmp_path / "new.pdf/a.txt").write_bytes(b"words")
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(3) == [b"new.pdf/a.txt"]
    assert sorted(scans.last.ignored) == [b"circle", b"link.pdf", b"pipe.pdf"]


def test_links_that_lead_in_circles_end(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/round").symlink_to(tmp_path / "a")
    (tmp_path / "a/out").symlink_to(tmp_path)
    (tmp_path / "a/b.txt").write_bytes(b"words")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    scans = Scans(tmp_path, InboxSettings(quiet_for_seconds=0, follow_symlinks=True))
    assert scans.settled_at(0) == [b"a/b.txt"]


def test_names_are_bytes(tmp_path: Path) -> None:
    names = sorted([b"M\xe4rz.txt", b"two\nlines.txt", b"-rf.txt", b" .txt", b"x" * 255, "\U0001f4c4.txt".encode()])
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(b"words")
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(3) == names


def test_a_note_of_ours_is_no_document_but_anybody_elses_is(tmp_path: Path) -> None:
    (tmp_path / "a.pdf.error.txt").write_text(f"{NOTE_MARK}\n\nFile: a.pdf\n")
    (tmp_path / "b.pdf.error.txt").write_text("the supplier's own error list\n")
    scans = Scans(tmp_path)
    scans.at(0)
    assert scans.settled_at(3) == [b"b.pdf.error.txt"]


def test_a_folder_nested_as_deep_as_paths_go_is_scanned(tmp_path: Path) -> None:
    deep = tmp_path
    while len(os.fsencode(deep)) < 3900:
        deep = deep / ("d" * 20)
    deep.mkdir(parents=True)
    (deep / "a.txt").write_bytes(b"words")
    scans = Scans(tmp_path)
    scans.at(0)
    assert len(scans.settled_at(3)) == 1


def test_an_inbox_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Scans(tmp_path / "none").at(0)


RULES = {"urgent": Rule(priority=10), "invoices": Rule(type="invoice"), "late": Rule(priority=-5, type="contract")}


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (b"a.pdf", Rule()),
        (b"invoices", Rule()),
        (b"urgent/a.pdf", Rule(10)),
        (b"urgent/invoices/a.pdf", Rule(10, "invoice")),
        (b"invoices/2026/urgent/a.pdf", Rule(10, "invoice")),
        (b"urgent/late/a.pdf", Rule(-5, "contract")),
        (b"Urgent/INVOICES/a.pdf", Rule(10, "invoice")),
        (b"M\xe4rz/a.pdf", Rule()),
    ],
)
def test_folders_are_rules_and_the_inner_one_wins(path: bytes, rule: Rule) -> None:
    assert rule_for(path, RULES) == rule


@given(st.lists(st.sampled_from([b"urgent", b"invoices", b"other"]), max_size=5), st.binary(max_size=10))
def test_the_name_of_a_file_is_no_rule(folders: list[bytes], name: bytes) -> None:
    inside = b"/".join([*folders, b"a.pdf"])
    renamed = b"/".join([*folders, name.replace(b"/", b"_")])
    assert rule_for(inside, RULES) == rule_for(renamed, RULES)
