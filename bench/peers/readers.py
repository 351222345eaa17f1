"""What people read documents with, each as its documentation shows it: `python -m bench.peers.readers NAME`

Standard library only until a reader is made, in its own virtual environment. A reader that can recognise what is on a
scanned page is set to do so, and to leave alone what has text.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.reading import Found, Reader, serve

_LANGUAGE, _DPI = "eng", 200
_MOST_CHARACTERS = 50_000_000


def kreuzberg() -> Reader:
    """`extract_file_sync` with tesseract for scans; its cache is off, as every round reads the same files."""
    library = import_module("kreuzberg")
    recognition = library.OcrConfig(backend="tesseract", language=_LANGUAGE)
    config = library.ExtractionConfig(ocr=recognition, use_cache=False)
    return lambda path: Found(library.extract_file_sync(path, config=config).content)


def ocrmypdf() -> Reader:
    """Recognises pages without text, writes a PDF with a text layer, and has pdftotext read that."""
    library = import_module("ocrmypdf")

    def read(path: str) -> Found:
        with tempfile.TemporaryDirectory() as folder:
            layered = str(Path(folder, "layered.pdf"))
            settings = {"skip_text": True, "output_type": "pdf", "language": [_LANGUAGE], "jobs": 1}
            library.ocr(path, layered, progress_bar=False, image_dpi=_dpi(path), **settings)
            return Found(_said("pdftotext", layered, "-"))

    return read


def pdftotext() -> Reader:
    """The program of poppler, started for each document."""
    return lambda path: Found(_said("pdftotext", path, "-"))


def pdftotext_layout() -> Reader:
    """The same, keeping rows and columns."""
    return lambda path: Found(_said("pdftotext", "-layout", path, "-"))


def tika() -> Reader:
    """Apache Tika, compiled to native code; tesseract reads pages without text."""
    library = import_module("iscc_tika")
    recognition = library.TesseractOcrConfig().set_language(_LANGUAGE).set_skip_ocr(False)
    extractor = _tika(library, library.PdfOcrStrategy.AUTO).set_ocr_config(recognition)
    return lambda path: Found(extractor.extract_file_to_string(path)[0])


def tika_text() -> Reader:
    """The same with recognition off."""
    library = import_module("iscc_tika")
    extractor = _tika(library, library.PdfOcrStrategy.NO_OCR)
    return lambda path: Found(extractor.extract_file_to_string(path)[0])


def unstructured() -> Reader:
    """`partition_pdf` with the strategy for PDFs that have text; the one for scans wants models from the network."""
    partition = import_module("unstructured.partition.pdf").partition_pdf

    def read(path: str) -> Found:
        elements = partition(path, strategy="fast")
        if not elements:  # without its language model it warns and goes on
            raise RuntimeError("it found nothing; it loads en_core_web_sm from the network at its first file")
        return Found("\n\n".join(each.text for each in elements))

    return read


def docling() -> Reader:
    """`DocumentConverter`, to Markdown."""
    converter = import_module("docling.document_converter").DocumentConverter()
    return lambda path: Found(converter.convert(path).document.export_to_markdown())


def markitdown() -> Reader:
    """To Markdown; of PDFs it is pdfminer and pdfplumber that read."""
    converter = import_module("markitdown").MarkItDown(enable_plugins=False)
    return lambda path: Found(converter.convert(path).text_content)


def pymupdf() -> Reader:
    """`get_text` of each page."""
    library = import_module("pymupdf")

    def read(path: str) -> Found:
        with library.open(path) as document:
            return Found("\n".join(page.get_text() for page in document))

    return read


def pymupdf4llm() -> Reader:
    """To Markdown."""
    library = import_module("pymupdf4llm")
    return lambda path: Found(library.to_markdown(path))


def pdfminer() -> Reader:
    """`extract_text`."""
    extract = import_module("pdfminer.high_level").extract_text
    return lambda path: Found(extract(path))


def pdfplumber() -> Reader:
    """`extract_text` of each page."""
    library = import_module("pdfplumber")

    def read(path: str) -> Found:
        with library.open(path) as document:
            return Found("\n".join(page.extract_text() or "" for page in document.pages))

    return read


def tesseract() -> Reader:
    """The program, started for each image."""
    options = ("-", "-l", _LANGUAGE, "--dpi", str(_DPI))
    return lambda path: Found(_said("tesseract", path, *options))


def tesserocr() -> Reader:
    """Tesseract in this process, its model loaded once."""
    library, pictures = import_module("tesserocr"), import_module("PIL.Image")
    api = library.PyTessBaseAPI(lang=_LANGUAGE, psm=library.PSM.AUTO)

    def read(path: str) -> Found:
        with pictures.open(path) as image:
            api.SetImage(image)
        api.SetSourceResolution(_DPI)
        return Found(api.GetUTF8Text())

    return read


READERS: dict[str, Callable[[], Reader]] = {
    each.__name__: each
    for each in (
        kreuzberg,
        ocrmypdf,
        pdftotext,
        pdftotext_layout,
        tika,
        tika_text,
        unstructured,
        docling,
        markitdown,
        pymupdf,
        pymupdf4llm,
        pdfminer,
        pdfplumber,
        tesseract,
        tesserocr,
    )
}


def _tika(library: Any, strategy: Any) -> Any:
    settings = library.PdfParserConfig().set_ocr_strategy(strategy)
    return library.Extractor().set_extract_string_max_length(_MOST_CHARACTERS).set_pdf_config(settings)


def _dpi(path: str) -> int | None:
    return None if path.endswith(".pdf") else _DPI


def _said(*command: str) -> str:
    """What a program prints. Raises CalledProcessError when it fails."""
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    serve(READERS[sys.argv[1]]())
