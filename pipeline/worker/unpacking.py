"""Files inside a document, unpacked in the child: into its scratch folder, one at a time, within the limits.

Each is inspected on the spot, so that the parent learns what it is without opening it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.config import MEGABYTE
from pipeline.documents.contract import Attachment, Format, Means
from pipeline.documents.identify import inspect
from pipeline.errors import DocumentError
from pipeline.reasons import Reason


class Unpacker:
    """Unpacks the files of one document, which is `depth` levels below what came in by itself.

    `limits.max_children` and `max_inflated_megabytes` of the means are what is left of the whole tree's allowance.
    """

    def __init__(self, scratch: Path, formats: Sequence[Format], means: Means, depth: int) -> None:
        self._scratch = scratch
        self._formats = formats
        self._means = means
        self._depth = depth
        self._count = 0
        self._bytes = 0

    def unpack(self, attachment: Attachment, say: Callable[[dict[str, Any]], None]) -> None:
        """Tell of one file; `say` returns once the parent has it. Raises DocumentError(bomb) for a limit of the whole.

        A file that cannot be unpacked is left out, with its reason; the others are not affected.
        """
        facts = {
            "number": attachment.number,
            "name": attachment.name,
            "media_type": attachment.media_type,
            "rendition_of": attachment.rendition_of,
            "left_out": attachment.left_out or self._too_deep(),
            "file": None,
            "inspection": None,
            "reason": None,
            "error": "",
        }
        if facts["left_out"] or attachment.content is None:
            say(facts)
            return
        path = self._scratch / f"attachment-{attachment.number}"
        try:
            self._write(path, attachment.content)
            say(facts | {"file": path.name} | self._inspected(path, attachment.name))
        except _LeftOut as error:
            say(facts | {"left_out": str(error)})
        finally:
            path.unlink(missing_ok=True)

    def _write(self, path: Path, content: Iterator[bytes]) -> None:
        self._count += 1
        if self._count > self._means.limits.max_children:
            most = self._means.limits.max_children
            raise DocumentError(Reason.BOMB, f"it holds more than {most} files; limits.max_children allows no more")
        with path.open("wb") as file:
            for piece in _or_left_out(content):
                self._bytes += len(piece)
                self._check_bytes(file.tell() + len(piece))
                file.write(piece)

    def _check_bytes(self, of_this_file: int) -> None:
        limits = self._means.limits
        if self._bytes > limits.max_inflated_megabytes * MEGABYTE:
            raise DocumentError(
                Reason.BOMB,
                f"it unpacks to more than {self._bytes / MEGABYTE:,.0f} MB;"
                f" limits.max_inflated_megabytes allows {limits.max_inflated_megabytes:g} more",
            )
        if of_this_file > limits.max_megabytes * MEGABYTE:
            raise _LeftOut(f"larger than limits.max_megabytes ({limits.max_megabytes:g})")

    def _inspected(self, path: Path, name: str) -> dict[str, Any]:
        try:
            with path.open("rb") as file:
                return {"inspection": asdict(inspect(file, name, self._formats, self._means))}
        except DocumentError as error:
            return {"reason": str(error.reason), "error": str(error)}

    def _too_deep(self) -> str:
        most = self._means.limits.max_nesting
        return f"nested {self._depth + 1} deep, limits.max_nesting is {most}" if self._depth >= most else ""


class _LeftOut(Exception):
    """This file does not become a document; the message says why."""


def _or_left_out(content: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from content
    except DocumentError as error:
        raise _LeftOut(str(error)) from error
