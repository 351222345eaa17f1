"""The last place of a file whose document has ended, and the note beside one that failed.

    processed/<path>                      succeeded
    processed/duplicates/<path>           the same bytes were here already, and succeeded
    failed/<reason>/<path>                anything else, with NAME.error.txt beside it

The place is on record before the file moves and confirmed after: whoever finds a move half done finishes it. Nothing is
overwritten: a name that is taken becomes NAME~2.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from pathlib import Path

from pipeline.documents.inbox import NOTE_MARK, NOTE_SUFFIX
from pipeline.documents.opening import opened
from pipeline.documents.text import clean, display_name
from pipeline.errors import DocumentError
from pipeline.intake.arrivals import Arrivals, Unplaced
from pipeline.intake.moving import move
from pipeline.reasons import Reason

DUPLICATES = "duplicates"
LONGEST_NAME = 255
_TRIES = 20  # each costs somebody else a name; more than two watchers that race is no race
_CHECK = "Check: "
_NOTE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER_NAME = re.compile(r"[a-z][a-z_]*")


class Placing:
    """Moves files to their last places. Two at once do not get in each other's way."""

    def __init__(self, processed: Path, failed: Path, arrivals: Arrivals) -> None:
        self._processed = processed
        self._failed = failed
        self._arrivals = arrivals

    def place(self, file: Path | None, path: bytes, due: Unplaced) -> Path | None:
        """Bring an ended file to its place and say so on record; returns where it is.

        `file` is None when it is no longer where it was held: an earlier move came that far, or somebody took it away.
        Raises OSError when it cannot be moved; it stays where it is then and the call may be repeated.
        """
        place = self._known(due) if file is None else self.bring(file, path, due)
        if place is not None and due.ended != "succeeded":
            self.leave_note(place, path, due)
        if due.ended == "succeeded":
            self.remove_old_notes(due)
        self._arrivals.placed(due.token)
        return place

    def bring(self, file: Path, path: bytes, due: Unplaced) -> Path | None:
        """Choose a name and move the file to it, until no one else is faster. None when the file is gone."""
        folder = self._folder(path, due)
        place = self._known(due)
        if place is None or place.parent != folder:
            place = self.choose(folder, path, due, instead_of=place)
        mark = f"doclease is about to put {due.token} here\n"
        try:
            for _ in range(_TRIES):
                if move(file, place, mark=mark):
                    return place
                place = self.choose(folder, path, due, instead_of=place)
        except FileNotFoundError:
            if os.path.lexists(file):
                raise
            return place
        raise FileExistsError(f"every name tried for {display_name(path)} in {folder} was taken meanwhile")

    def choose(self, folder: Path, path: bytes, due: Unplaced, *, instead_of: Path | None) -> Path:
        """A name that nobody has, on record as this arrival's; the one on record if another watcher was faster."""
        wanted = os.fsencode(_free(folder, path.rpartition(b"/")[2], noted=due.ended != "succeeded"))
        before = None if instead_of is None else os.fsencode(instead_of)
        chosen = self._arrivals.choose_place(due.token, wanted, instead_of=before)
        return Path(os.fsdecode(chosen or wanted))

    def leave_note(self, place: Path, path: bytes, due: Unplaced) -> None:
        """Say beside a failed file what happened and what to do; completes a note that was cut short."""
        content = note(path, due)
        target = note_of(place)
        try:
            with opened(target) as (file, _):
                if not content.startswith(file.read()):
                    return  # somebody else's
        except FileNotFoundError:
            pass
        except DocumentError:
            return  # a link or a pipe of that name is not ours, and writing to it might do anything
        with os.fdopen(os.open(target, _NOTE_FLAGS, 0o666), "wb") as file:
            file.write(content)

    def remove_old_notes(self, due: Unplaced) -> None:
        """Remove the notes of earlier failures whose files were sent again, if nobody wrote into them."""
        assert due.document_id is not None
        assert due.arrival_id is not None
        for raw in self._arrivals.earlier_places(due.document_id, due.arrival_id):
            place = Path(os.fsdecode(raw))
            if self._failed in place.parents and not os.path.lexists(place) and is_untouched(note_of(place)):
                note_of(place).unlink(missing_ok=True)

    def _known(self, due: Unplaced) -> Path | None:
        return None if due.placed_path is None else Path(os.fsdecode(due.placed_path))

    def _folder(self, path: bytes, due: Unplaced) -> Path:
        """The folder a file belongs in, made if it is not there."""
        if due.ended == "succeeded":
            top = self._processed / DUPLICATES if due.duplicate else self._processed
        else:
            reason = due.reason or ""
            top = self._failed / (reason if _FOLDER_NAME.fullmatch(reason) else "other")
        folder = top / os.fsdecode(path.rpartition(b"/")[0])
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):  # a file has the name that the folder needs
            return top
        return folder


def numbered(name: bytes, number: int, *, longest: int = LONGEST_NAME) -> bytes:
    """NAME.ext for 1, NAME~2.ext for 2 and so on, cut to `longest` bytes but never inside a character."""
    stem, dot, ending = name.rpartition(b".")
    if not stem or len(ending) > 20:
        stem, dot, ending = name, b"", b""
    tail = (b"~%d" % number if number > 1 else b"") + dot + ending
    return _cut(stem, longest - len(tail)) + tail


def note_of(place: Path) -> Path:
    """Where the note on a failed file is."""
    name = os.fsencode(place.name)
    return place.with_name(os.fsdecode(_cut(name, LONGEST_NAME - len(NOTE_SUFFIX)) + NOTE_SUFFIX))


def note(path: bytes, due: Unplaced) -> bytes:
    """What is told about a failed file. It ends in a check by which a note that somebody edited is known."""
    reason = Reason(due.reason) if due.reason in list(Reason) else None
    lines = [
        NOTE_MARK,
        "",
        f"File:      {display_name(path)}",
        f"Document:  {due.document_id}",
        f"Task:      {due.task_id} ({due.ended} after {due.attempts} {'attempt' if due.attempts == 1 else 'attempts'})",
        f"Reason:    {due.reason}",
        f"Meaning:   {reason.help if reason else 'see the error'}",
        f"Error:     {clean(due.error or 'none recorded')}",
        "",
        "What to do next: change what the reason names, then drop the file into the inbox again to retry it.",
        f"Without moving the file: doclease tasks retry {due.task_id}",
        f"The whole story: doclease tasks explain {due.task_id}",
        "",
    ]
    text = "\n".join(lines)
    return f"{text}\n{_CHECK}{_check_of(text)}\n".encode()


def is_untouched(path: Path) -> bool:
    """Whether a note is there, of doclease's own writing, and nobody has written into it."""
    try:
        text, found, check = path.read_text("utf-8").rpartition(f"\n{_CHECK}")
    except (OSError, UnicodeDecodeError):
        return False
    return bool(found) and text.startswith(NOTE_MARK) and check.strip() == _check_of(text)


def _check_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _free(folder: Path, name: bytes, *, noted: bool) -> Path:
    for number in itertools.count(1):
        place = folder / os.fsdecode(numbered(name, number))
        if not os.path.lexists(place) and not (noted and os.path.lexists(note_of(place))):
            return place
    raise AssertionError("numbers do not end")


def _cut(text: bytes, longest: int) -> bytes:
    if len(text) <= longest:
        return text
    while longest > 0 and text[longest] & 0xC0 == 0x80:  # the next byte goes on with a character
        longest -= 1
    return text[:longest]
