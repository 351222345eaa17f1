"""Bytes between store and child: a document goes down as an open file, the files inside it come up into the store.

Both ways the parent opens files and never looks into them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO

from pipeline.attachments import Part
from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.archive import Archive, Stored
from pipeline.documents.opening import opened
from pipeline.documents.text import clean
from pipeline.errors import DocumentError, StoreUnavailable
from pipeline.queue.model import Claim
from pipeline.queue.settle import Fault
from pipeline.reasons import Reason
from pipeline.registering import Triage, limited
from pipeline.results import Material
from pipeline.worker.ends import End
from pipeline.worker.frames import BrokenFrame, Frame, Unpacked, job_frame
from pipeline.worker.process import ChildProcess
from pipeline.worker.provision import Provision


@contextmanager
def document(archive: Archive, sha256: str) -> Iterator[BinaryIO]:
    """The document's bytes as an open file, looked at whole before: damage on disk must not become a result.

    Raises End(io_error), to be tried again.
    """
    path = archive.path_of(sha256)
    if not path.is_file():
        missing = f"its bytes are not in the store at {path}; every worker must see the same data_dir"
        raise End(Fault.TRANSIENT, Reason.IO_ERROR, missing)
    try:
        is_whole = archive.verify(sha256)
    except StoreUnavailable as error:
        raise End(Fault.TRANSIENT, Reason.IO_ERROR, str(error)) from error
    if not is_whole:
        damaged = f"its bytes in the store at {path} are damaged; restore them from a backup or send the file again"
        raise End(Fault.TRANSIENT, Reason.IO_ERROR, damaged)
    with opened(path) as (file, _):
        yield file


def request(claim: Claim, material: Material) -> Frame:
    """The job as the child is told of it."""
    return job_frame(
        name=material.name,
        handler=claim.handler,
        stored=len(material.stored),
        whole=material.whole,
        skip=material.skip,
        depth=material.parent.depth,
        cpu_seconds=claim.deadline_seconds,
        may_ask=material.has_memory,
    )


def part(unpacked: Unpacked, child: ChildProcess, archive: Archive, limits: LimitSettings) -> Part:
    """A file that the child unpacked, durable in the store; its place in the scratch folder is free again.

    Raises BrokenFrame for a file that is none, End when the store cannot take it.
    """
    return Part(
        number=unpacked.number,
        name=unpacked.name,
        media_type=unpacked.media_type,
        left_out=unpacked.left_out,
        rendition_of=unpacked.rendition_of,
        stored=None if unpacked.file is None else _kept(child, archive, unpacked.file),
        triage=None if unpacked.file is None else _triage(unpacked, limits),
    )


def _kept(child: ChildProcess, archive: Archive, name: str) -> Stored:
    path = child.scratch_file(name)
    try:
        with opened(path) as (file, _):
            stored = archive.keep(file)
        path.unlink()
    except StoreUnavailable as error:
        raise End(Fault.TRANSIENT, Reason.DISK_FULL, str(error)) from error
    except (OSError, DocumentError) as error:
        raise BrokenFrame(f"no file {name}: {error}") from error
    return stored


def _triage(unpacked: Unpacked, limits: LimitSettings) -> Triage:
    if unpacked.inspection is not None:
        return limited(unpacked.inspection, limits)
    return Triage(None, unpacked.reason or Reason.INTERNAL_ERROR, clean(unpacked.error))


def allowance(provision: Provision, material: Material) -> Provision:
    """What a document may use: of the limits on what is inside it, what the other files of its tree have left."""
    limits = provision.limits
    left = replace(
        limits,
        max_children=max(limits.max_children - material.tree_documents, 0),
        max_inflated_megabytes=max(limits.max_inflated_megabytes - material.tree_bytes / MEGABYTE, 0),
    )
    return replace(provision, limits=left)
