"""`doclease documents`: list them, show what was found in one, print its text."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pipeline.cli.output import (
    Row,
    format_option,
    id_type,
    json_line,
    limit_option,
    print_list,
    print_rows,
    safe,
)
from pipeline.cli.session import app_of
from pipeline.queue.states import Status
from pipeline.reasons import Reason
from pipeline.reports import queries
from pipeline.reports.queries import DocumentStory


@click.group(short_help="List documents, show what was found, print their text.")
def documents() -> None:
    """What was taken in: a document is a file's content; the same bytes twice are one document."""


@documents.command("list", short_help="List documents, newest first.")
@click.option("--status", type=click.Choice([each.value for each in Status]), help="Only documents in this state.")
@click.option("--type", "document_type", metavar="TYPE", help="Only invoice, contract, general, …")
@click.option("--batch", metavar="NAME", help="Only documents taken in as this batch.")
@click.option("--reason", type=click.Choice([each.value for each in Reason]), help="Only those with this reason.")
@format_option
@limit_option
@click.pass_context
def list_(
    ctx: click.Context,
    *,
    status: str | None,
    document_type: str | None,
    batch: str | None,
    reason: str | None,
    output: str,
    limit: int,
) -> None:
    """List documents, newest first, each with the state of its newest task."""
    with app_of(ctx) as app:
        rows = queries.documents(
            app.engine, status=status, document_type=document_type, batch=batch, reason=reason, limit=limit
        )
    print_list(rows, output, nothing="no document matches; `doclease documents list` shows all there are")


@documents.command(short_help="Show what was found in a document.")
@click.argument("document_id", metavar="ID", type=id_type())
@format_option
@click.pass_context
def show(ctx: click.Context, document_id: int, output: str) -> None:
    """Show what was found in a document: each field with its page, its snippet and how sure the handler is.

    JSON is one object; CSV has the fields.
    """
    with app_of(ctx) as app:
        found = queries.document(app.engine, document_id)
    if output == "json":
        parts = {"fields": found.fields, "checks": found.checks, "arrivals": found.arrivals}
        click.echo(json_line({**found.document, **parts}))
    elif output == "csv":
        print_list(found.fields, output, nothing=f"no field was found in document {document_id}")
    else:
        _tell(found)


@documents.command("text", short_help="Print the text of a document, page by page.")
@click.argument("document_id", metavar="ID", type=id_type())
@click.option("--page", "page_no", metavar="N", type=click.IntRange(1, 2**31 - 1), help="Only this page.")
@click.pass_context
def text_(ctx: click.Context, document_id: int, page_no: int | None) -> None:
    """Print the text of a document, page by page; a page that could not be read is named with its error."""
    with app_of(ctx) as app:
        pages = queries.pages(app.engine, document_id, page_no=page_no)
    for page in pages:
        if page_no is None:
            click.echo(f"--- page {page['page_no']} ({page['source']}) ---")
        if page["error"]:
            click.echo(f"[page {page['page_no']} could not be read: {safe(page['error'])}]")
        if page["text"]:
            click.echo(safe(page["text"].rstrip("\n"), lines=True))


def _tell(found: DocumentStory) -> None:
    pairs = [{"column": name, "value": value} for name, value in found.document.items() if value is not None]
    print_rows(pairs, ["column", "value"], "table")
    _section("Fields", found.fields)
    _section("Checks", found.checks)
    _section("Arrivals", found.arrivals)


def _section(title: str, rows: Sequence[Row]) -> None:
    if rows:
        click.echo(f"\n{title}:")
        print_rows(rows, list(rows[0]), "table")
