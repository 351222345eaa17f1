"""`doclease review`: look at what is doubtful, one document at a time, and say what is right."""

from __future__ import annotations

import getpass
from collections.abc import Iterator

import click

from pipeline.cli.output import (
    Command,
    Row,
    as_text,
    format_option,
    id_type,
    json_line,
    limit_option,
    print_list,
    print_rows,
    safe,
)
from pipeline.cli.session import app_of
from pipeline.errors import UsageProblem
from pipeline.reports import review as reviewing
from pipeline.reports.review import Doubtful


def _type_option(command: Command) -> Command:
    return click.option("--type", "document_type", metavar="TYPE", help="Only invoice or contract.")(command)


def _by_option(command: Command) -> Command:
    option = click.option("--by", "by_whom", metavar="NAME", help="Who says so (default: the user who runs this).")
    return option(command)


@click.group(short_help="Look at doubtful fields and say what is right.")
def review() -> None:
    """Look at what is doubtful: failed checks, missing fields, and fields less sure than review.accept_at.

    What you say is kept beside what was found, holds at once and for every later reading of the document, and teaches
    how the next invoice of the same issuer is read.
    """


@review.command("list", short_help="List the documents that wait for a person.")
@_type_option
@format_option
@limit_option
@click.pass_context
def list_(ctx: click.Context, document_type: str | None, output: str, limit: int) -> None:
    """List the documents that wait for a person: the largest amounts first, what was skipped last."""
    with app_of(ctx) as app:
        rows = reviewing.documents(
            app.engine, accept_at=app.settings.review.accept_at, document_type=document_type, limit=limit
        )
    print_list(rows, output, nothing="nothing waits for a person")


@review.command("next", short_help="Show the document to look at first.")
@_type_option
@format_option
@click.pass_context
def next_(ctx: click.Context, document_type: str | None, output: str) -> None:
    """Show the document to look at first: each doubt with its page, the line it stands on, and why it is one.

    JSON is one object; CSV has the doubts.
    """
    with app_of(ctx) as app:
        found = reviewing.doubtful(app.engine, accept_at=app.settings.review.accept_at, document_type=document_type)
    if output == "json":
        click.echo(json_line({**found.document, "doubts": found.doubts, "waiting": found.waiting}))
    elif output == "csv":
        print_rows(found.doubts, list(found.doubts[0]), output)
    else:
        for line in _told(found):
            click.echo(safe(line))


@review.command(short_help="Say that fields are right, or that checks need nobody.")
@click.argument("document_id", metavar="ID", type=id_type())
@click.argument("names", metavar="[FIELD…]", nargs=-1)
@_by_option
@click.pass_context
def accept(ctx: click.Context, document_id: int, names: tuple[str, ...], by_whom: str | None) -> None:
    """Say that fields are right as they are, and that failed checks need nobody; without names, all that is doubtful.

    A field that was not found, and is accepted, is not printed there.
    """
    with app_of(ctx) as app:
        accepted = reviewing.accept(
            app.engine, document_id, names, by_whom=by_whom or _user(), accept_at=app.settings.review.accept_at
        )
    click.echo(f"document {document_id}: accepted {', '.join(map(safe, accepted))}")


@review.command(short_help="Say what is right.")
@click.argument("document_id", metavar="ID", type=id_type())
@click.argument("changes", metavar="FIELD=VALUE…", nargs=-1, required=True)
@click.option(
    "--page", metavar="N", type=click.IntRange(1, 2**31 - 1), help="Where it is printed (default: looked for)."
)
@_by_option
@click.pass_context
def fix(ctx: click.Context, document_id: int, changes: tuple[str, ...], page: int | None, by_whom: str | None) -> None:
    """Say what is right: total_gross=1190.00, lines.2.net_amount=41.00; FIELD= for what is not there.

    Amounts and dates may be typed as they are printed where that can be read in one way only.
    """
    with app_of(ctx) as app:
        said = reviewing.fix(
            app.engine, document_id, dict(map(_change, changes)), by_whom=by_whom or _user(), page=page
        )
    for name, value in said.items():
        click.echo(f"document {document_id}: {name} is {'not there' if value is None else safe(value)}")


@review.command(short_help="Put a document off until all others were looked at.")
@click.argument("document_id", metavar="ID", type=id_type())
@_by_option
@click.pass_context
def skip(ctx: click.Context, document_id: int, by_whom: str | None) -> None:
    """Put a document off: it comes after all others."""
    with app_of(ctx) as app:
        reviewing.skip(app.engine, document_id, by_whom=by_whom or _user())
    click.echo(f"document {document_id}: put off")


def _change(typed: str) -> tuple[str, str]:
    name, equals, value = typed.partition("=")
    if not equals or not name.strip():
        raise UsageProblem(f"{typed!r} says no field and value; write for example total_gross=1190.00")
    return name.strip(), value


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without an account
        return "somebody"


def _told(found: Doubtful) -> Iterator[str]:
    """The document, its doubts, and what may be said of them."""
    document, number = found.document, found.document["document_id"]
    amount = f"{document['currency'] or ''} {as_text(document['total_gross'])}".strip()
    facts = [document["name"], document["document_type"], document["seller_name"], amount]
    yield f"document {number}: {', '.join(fact for fact in facts if fact)}"
    yield f"  came {as_text(document['received_at'])}; {found.waiting} more wait"
    for doubt in found.doubts:
        yield ""
        yield from _doubt(doubt)
    yield ""
    yield f"  doclease review accept {number} [FIELD…]      it is right as it is"
    yield f"  doclease review fix {number} FIELD=VALUE…      what is right; FIELD= for what is not there"
    yield f"  doclease review skip {number}                  later"


def _doubt(doubt: Row) -> Iterator[str]:
    if doubt["item"] == "check":
        yield f"  check {doubt['field']} failed"
    elif doubt["value"] is None:
        yield f"  {doubt['field']} is missing"
    else:
        page = f" (page {doubt['page']})" if doubt["page"] else ""
        yield f"  {doubt['field']} is {doubt['value']}{page}"
    yield f"    why: {doubt['why']}"
    if doubt["snippet"]:
        yield f"    line: {doubt['snippet']}"
