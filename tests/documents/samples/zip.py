"""An archive whose list of entries is long enough for pages."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from pipeline.documents.formats.zip_archive import ENTRIES_PER_PAGE


def build(pages: Sequence[str]) -> bytes:
    """An archive with a page's text in the name of the first entry of that page."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, page in enumerate(pages, 1):
            archive.writestr(f"{page}.txt", page)
            for other in range(1, ENTRIES_PER_PAGE):
                archive.writestr(f"{number}/{other}.txt", f"entry {number}.{other}")
    return file.getvalue()
