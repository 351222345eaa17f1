"""`doclease search`: pages by words and by parts of numbers."""

from __future__ import annotations

import click

from pipeline.cli.output import format_option, limit_option, print_list
from pipeline.cli.session import app_of
from pipeline.reports import search as pages


@click.command(short_help="Find pages by words, or by parts of numbers.")
@click.argument("query", nargs=-1, required=True)
@click.option("--type", "document_type", metavar="TYPE", help="Only invoice, contract, general, …")
@format_option
@limit_option
@click.pass_context
def search(ctx: click.Context, query: tuple[str, ...], document_type: str | None, output: str, limit: int) -> None:
    """Find pages that hold all words of QUERY, or its numbers as parts of longer ones: 0042 finds INV-2026-0042.

    As in a web search: "a phrase", this or that, and (behind `--`) -without.
    """
    words = " ".join(query)
    with app_of(ctx) as app:
        rows = pages.search(app.engine, words, document_type=document_type, limit=limit)
    print_list(rows, output, nothing=f"no page matches {words!r}")
