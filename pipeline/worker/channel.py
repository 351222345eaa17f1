"""The way from parent to child: frames over a Unix socket, a document's open file travelling beside its frame.

The child gets the file and no path: what it reads was opened by the parent, and it can open nothing else.
"""

from __future__ import annotations

import os
import select
import socket
from collections import deque
from typing import BinaryIO

from pipeline.worker.frames import Decoder, Frame

CHUNK_BYTES = 1 << 18
_FILES_A_MESSAGE = 4


class NotTaken(Exception):
    """The child does not read what it is sent."""


def send(channel: socket.socket, data: bytes, file: BinaryIO | None, *, patience_seconds: float) -> None:
    """Send a frame, and a file with its first bytes. Raises NotTaken, or OSError when the other end is gone."""
    rest = memoryview(data)
    descriptors = [] if file is None else [file.fileno()]
    while rest:
        poll = select.poll()
        poll.register(channel, select.POLLOUT)
        if not poll.poll(patience_seconds * 1000):
            raise NotTaken
        rest = rest[socket.send_fds(channel, [rest[:CHUNK_BYTES]], descriptors, socket.MSG_DONTWAIT) :]
        descriptors = []


class Requests:
    """The child's end: frames in order, and the files that came with them."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._decoder = Decoder()
        self._files: deque[BinaryIO] = deque()

    def next(self) -> Frame | None:
        """The next frame, waited for; None when the parent closed its end."""
        while (frame := self._decoder.next()) is None:
            data, descriptors, _, _ = socket.recv_fds(self._channel, CHUNK_BYTES, _FILES_A_MESSAGE)
            self._files += [os.fdopen(descriptor, "rb") for descriptor in descriptors]
            if not data:
                return None
            self._decoder.feed(data)
        return frame

    def file(self) -> BinaryIO:
        """The file that came with the latest frame; the caller closes it."""
        return self._files.popleft()
