"""`doclease search`: pages by words, numbers and amounts, documents by seller, date and total."""

from __future__ import annotations

import datetime as dt

import click

from pipeline.cli.output import format_option, limit_option, print_list
from pipeline.cli.session import app_of
from pipeline.errors import UsageProblem
from pipeline.reports import search as found
from pipeline.reports.search_filters import Filters, amount_range


@click.command(short_help="Find pages by words, numbers or amounts; documents by seller, date or total.")
@click.argument("query", nargs=-1)
@click.option("--type", "document_type", metavar="TYPE", help="Only invoice, contract, general, …")
@click.option("--seller", metavar="NAME", help="Only invoices of this seller; a part of the name is enough.")
@click.option("--since", metavar="DATE", help="Only documents dated YYYY-MM-DD or later.")
@click.option("--until", metavar="DATE", help="Only documents dated YYYY-MM-DD or earlier.")
@click.option(
    "--amount", metavar="N|N..M", help="Only invoices of this gross total, or of one between two, in any notation."
)
@format_option
@limit_option
@click.pass_context
def search(ctx: click.Context, /, query: tuple[str, ...], output: str, limit: int, **asked: str | None) -> None:
    """Find pages that hold all words of QUERY, or its numbers as parts of longer ones: 0042 finds INV-2026-0042.

    Accents do not matter, nor how an amount is written: 1.234,56 finds 1,234.56. As in a web search: "a phrase", this
    or that, and (behind `--`) -without.

    Without QUERY the filters list documents, one row each. A document's date is that of the invoice, else from when
    the contract is, else the day it came.
    """
    filters = _filters(**asked)
    words = " ".join(query)
    with app_of(ctx) as app:
        if words.strip():
            rows = found.search(app.engine, words, filters=filters, limit=limit)
        else:
            rows = found.listed(app.engine, filters, limit=limit)
    print_list(rows, output, nothing=f"no page matches {words!r}" if words.strip() else "no document matches")


def _filters(
    *, document_type: str | None, seller: str | None, since: str | None, until: str | None, amount: str | None
) -> Filters:
    least, most = amount_range(amount) if amount is not None else (None, None)
    return Filters(document_type, seller, _day("--since", since), _day("--until", until), least, most)


def _day(option: str, typed: str | None) -> dt.date | None:
    if typed is None:
        return None
    try:
        return dt.date.fromisoformat(typed.strip())
    except ValueError as error:
        raise UsageProblem(f"{option} {typed} is no date: write it as 2026-05-31") from error
