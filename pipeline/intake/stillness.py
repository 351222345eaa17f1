"""Whether a held file has come to rest: it may still be written to by whoever had it open when it was taken.

Watched from pass to pass, by this process's own clock; a watcher that starts anew begins to watch anew.
"""

from __future__ import annotations

import logging
import time
import uuid
from pathlib import Path

from pipeline.config import InboxSettings
from pipeline.documents.inbox import PATIENCE, look_into
from pipeline.documents.opening import opened
from pipeline.documents.text import display_name
from pipeline.documents.writing import is_open_for_writing
from pipeline.intake.arrivals import Identity
from pipeline.intake.private_folder import Held
from pipeline.intake.recipe import identity_of

logger = logging.getLogger(__name__)


class Stillness:
    """What is known of held files that are waited for."""

    def __init__(self, settings: InboxSettings) -> None:
        self._settings = settings
        # Since when each is as it is: of this pass, and of the one before.
        self._restless: dict[uuid.UUID, tuple[Identity, float]] = {}
        self._were_restless: dict[uuid.UUID, tuple[Identity, float]] = {}
        self._were_open: set[uuid.UUID] = set()

    def next_pass(self) -> None:
        """Forget what the last pass did not see any more."""
        self._were_restless, self._restless = self._restless, {}

    @property
    def is_waited_for(self) -> bool:
        """Whether this pass saw a file that has not come to rest."""
        return bool(self._restless)

    def is_settled(self, held: Held) -> bool:
        """Whether a file that was never taken may be: somebody may write to it, or be taking it just now."""
        assert held.file is not None
        still_for = self._still_for(held.token, held.file)
        if still_for < self._settings.quiet_for_seconds:
            return False
        return still_for >= look_into(held.file).seconds_to_stand_still(self._settings)

    def is_released(self, held: Held) -> bool:
        """Whether nobody can write to a file any more, so that it may be compared and moved for good.

        Where nobody can tell, one that stood still for long counts as released.
        """
        assert held.file is not None
        with opened(held.file) as (file, _):
            is_open = is_open_for_writing(file.fileno(), held.file)
        if is_open is None:
            return self._still_for(held.token, held.file) >= PATIENCE * self._settings.quiet_for_seconds
        if is_open:
            self._still_for(held.token, held.file)
            if held.token not in self._were_open:
                self._were_open.add(held.token)
                logger.info("%s is open for writing: it is held until it is closed", display_name(held.path))
        return not is_open

    def was_open(self, token: uuid.UUID) -> bool:
        """Whether somebody was seen to have the file open for writing; its time may say nothing of what he wrote."""
        return token in self._were_open

    def forget(self, token: uuid.UUID) -> None:
        """A file is taken, or has its last place."""
        self._restless.pop(token, None)
        self._were_open.discard(token)

    def _still_for(self, token: uuid.UUID, file: Path) -> float:
        now, identity = time.monotonic(), identity_of(file.lstat())
        before = self._restless.get(token) or self._were_restless.get(token)
        since = before[1] if before is not None and before[0] == identity else now
        self._restless[token] = (identity, since)
        return now - since
