"""`doclease documents`: list them, show what was found in one, print its text, bring out its file, read it again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import BinaryIO, TextIO

import click

from pipeline import handling
from pipeline.app import ABANDONED_AFTER_SECONDS
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
from pipeline.cli.priority import Priority
from pipeline.cli.session import app_of
from pipeline.errors import NothingMatched
from pipeline.queue.states import Status
from pipeline.reasons import Reason
from pipeline.reports import originals, queries
from pipeline.reports.queries import DocumentStory

SOME_FAILED = 3


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
        parts = {
            "fields": found.fields,
            "lines": found.lines,
            "parties": found.parties,
            "checks": found.checks,
            "attachments": found.attachments,
            "arrivals": found.arrivals,
        }
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


@documents.command("file", short_help="Bring out the file that came, unchanged.")
@click.argument("document_id", metavar="ID", type=id_type())
@click.option("--output", "-o", "target", type=click.Path(path_type=Path), help="A new file to write to.")
@click.pass_context
def file_(ctx: click.Context, document_id: int, target: Path | None) -> None:
    """Bring out the file that came, byte for byte, to standard output or into a new file."""
    with app_of(ctx) as app, _opened(target) as out:
        originals.bring_out(app.engine, app.archive, document_id, out)


@documents.command(short_help="Check the stored files against their hashes.")
@click.argument("document_ids", metavar="[ID]…", nargs=-1, type=id_type())
@format_option
@click.pass_context
def verify(ctx: click.Context, document_ids: tuple[int, ...], output: str) -> None:
    """Check the stored files, all of them or those named, against their hashes; list what is damaged or missing.

    Checking all lists files of the store too that are no document's: harmless strangers, and abandoned copies. Reads
    every file once. Exits with 0 when all are as they came, with 3 when some are not.
    """
    with app_of(ctx) as app:
        found = list(originals.verify(app.engine, app.archive, document_ids))
        old = {"older_than_seconds": ABANDONED_AFTER_SECONDS}
        strays = [] if document_ids else list(originals.strays(app.engine, app.settings.store_path, **old))
    if not found and not strays:
        raise NothingMatched("there is no document to check")
    told = [asdict(each) for each in [*found, *strays] if each.state != "ok"]
    if told or output != "table":
        print_rows(told, [field.name for field in fields(originals.Verified)], output)
    lost, kept = sum(each.is_lost for each in found), sum(each.state != "not kept" for each in found)
    click.echo(f"{kept - lost} of {kept} are as they came", err=True)
    ctx.exit(SOME_FAILED if lost else 0)


@documents.command(short_help="Give the password of a locked document, and read it.")
@click.argument("document_id", metavar="ID", type=id_type())
@click.option(
    "--password-file", type=click.File("r", encoding="utf-8"), help="Read it from there; - is standard input."
)
@click.pass_context
def unlock(ctx: click.Context, document_id: int, password_file: TextIO | None) -> None:
    """Give the password of a locked document: it is tried, kept in the file of passwords, and the document is read.

    The password is asked for without being shown, or read from a file; it is never an argument, which other users of
    the machine could see.
    """
    if password_file is None:
        password = click.prompt("Password", hide_input=True, err=True)
    else:
        password = password_file.read().removesuffix("\n").removesuffix("\r")
    with app_of(ctx) as app, app.again() as again:
        task_id = again.unlock(document_id, password, app.settings.passwords_path)
    click.echo(f"document {document_id} opens; task {task_id} is in line")


@documents.command(short_help="Read documents anew, with today's formats and handlers.")
@click.argument("document_ids", metavar="ID…", nargs=-1, required=True, type=id_type())
@click.option("--type", "handler", metavar="TYPE", help="As invoice, contract, general, … or auto; default: as before.")
@click.option("--priority", type=Priority(), help="low, normal, high, urgent or -10 to 10; default: as before.")
@click.pass_context
def reprocess(ctx: click.Context, document_ids: tuple[int, ...], handler: str | None, priority: int | None) -> None:
    """Read documents anew, as if they had just come; until that is done, the old result stays in force."""
    if handler not in (None, handling.AUTO):
        handling.named(handling.discover(), str(handler))  # raises with the names there are
    with app_of(ctx) as app, app.again() as again:
        for document_id in document_ids:
            task_id = again.reprocess(document_id, handler=handler, priority=priority)
            click.echo(f"document {document_id}: task {task_id} is in line")


@contextmanager
def _opened(target: Path | None) -> Iterator[BinaryIO]:
    """Standard output or a new file, which does not stay when it could not be completed."""
    if target is None:
        yield sys.stdout.buffer
        return
    with originals.new_file(target) as file:
        try:
            yield file
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _tell(found: DocumentStory) -> None:
    pairs = [{"column": name, "value": value} for name, value in found.document.items() if value is not None]
    print_rows(pairs, ["column", "value"], "table")
    _section("Fields", found.fields)
    _section("Lines", found.lines)
    _section("Parties", found.parties)
    _section("Checks", found.checks)
    _section("Files inside", found.attachments)
    _section("Arrivals", found.arrivals)


def _section(title: str, rows: Sequence[Row]) -> None:
    if rows:
        click.echo(f"\n{title}:")
        print_rows(rows, list(rows[0]), "table")
