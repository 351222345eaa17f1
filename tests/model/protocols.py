"""The protocol of intake as it is, in the steps of the model, and protocols that look as good and are not."""

from __future__ import annotations

from collections.abc import Callable

from tests.model.intake import IDLE, At, File, Protocol, Row, Token, World


def ours(*, far: bool) -> Protocol:
    """Renamed into a private folder, copied, recorded, compared; moved when it ended and nobody can write to it."""
    steps = {
        "claim": _claim,
        "due": _due,
        "held": _held,
        "find": _find,
        "copy": _copy,
        "record": _record,
        "check": _check,
        "renew": _renew,
        "ask": _ask,
        "compare": _compare,
        "choose": _choose,
        "move": _carry if far else _link,
        "let go": _let_go,
        "confirm": _confirm,
    }
    return Protocol(_starts, steps, far)


def _starts(world: World) -> list[At]:
    """Something lies in the inbox, a token has a file, or an arrival has no place."""
    claims = [] if world.inbox is None else [At("claim")]
    tokens = {token for token, _ in world.held} | {row.token for row in world.rows if not row.placed}
    return claims + [At("due", token) for token in sorted(tokens)]


def _claim(world: World, _: At) -> tuple[World, At]:
    if world.inbox is None:
        return world, IDLE
    token = world.tokens
    claimed = world.holding(token, world.inbox)._replace(inbox=None, tokens=token + 1)
    return claimed, At("find", token)


def _due(world: World, at: At) -> tuple[World, At]:
    return world, At("held", at.token, row=world.row_of(at.token))


def _held(world: World, at: At) -> tuple[World, At]:
    there, row = world.file_of(at.token) is not None, at.row
    if row is None:
        return world, At("find", at.token) if there else IDLE
    if not there:
        return world, IDLE if row.placed else At("confirm", at.token)
    return world, At("renew", at.token) if row.placed else At("ask", at.token, row.content)


def _find(world: World, at: At) -> tuple[World, At]:
    row = world.row_of(at.token)
    return world, At("copy", at.token) if row is None else At("check", at.token, row.content)


def _copy(world: World, at: At) -> tuple[World, At]:
    file = world.file_of(at.token)
    if file is None:
        return world, IDLE
    content = world.contents[file]
    return world._replace(store=world.store | {content}), At("record", at.token, content)


def _record(world: World, at: At) -> tuple[World, At]:
    known = world.row_of(at.token)
    if known is not None:
        return world, At("check", at.token, known.content)
    return world.with_row(Row(at.token, at.content)), At("check", at.token, at.content)


def _check(world: World, at: At) -> tuple[World, At]:
    file = world.file_of(at.token)
    same = file is None or world.contents[file] == at.content
    return world, IDLE if same else At("renew", at.token)


def _renew(world: World, at: At) -> tuple[World, At]:
    file = world.file_of(at.token)
    if file is None:
        return world, IDLE
    renewed = world.holding(at.token, None).holding(world.tokens, file)
    return renewed._replace(tokens=world.tokens + 1), At("confirm", at.token)


def _ask(world: World, at: At) -> tuple[World, At]:
    file = world.file_of(at.token)
    return world, IDLE if file is None else At("compare", at.token, at.content, file not in world.writers)


def _compare(world: World, at: At) -> tuple[World, At]:
    file = world.file_of(at.token)
    if file is None:
        return world, IDLE
    if world.contents[file] != at.content:
        return world, At("renew", at.token)
    return world, At("choose", at.token, at.content) if at.released else IDLE


def _choose(world: World, at: At) -> tuple[World, At]:
    """A free name, on record; the name on record where it is still free or is the file's already."""
    row = world.row_of(at.token)
    assert row is not None
    taken = dict(world.processed)
    if row.placed:
        return world, At("move", at.token, at.content, row=row)
    name = row.name
    if name is None or (name in taken and taken[name] not in (world.file_of(at.token), at.content)):
        name = next(each for each in ("n", "n~2", "n~3", "n~4", "n~5") if each not in taken)
    chosen = row._replace(name=name)
    return world.with_row(chosen), At("move", at.token, at.content, row=chosen)


def _link(world: World, at: At) -> tuple[World, At]:
    """The file gets its new name as a hard link, unless somebody has that name."""
    file = world.file_of(at.token)
    return _put(world, at, file, file)


def _carry(world: World, at: At) -> tuple[World, At]:
    """The bytes are copied to another file system, unless somebody has the name there."""
    file = world.file_of(at.token)
    return _put(world, at, file, None if file is None else world.contents[file])


def _put(world: World, at: At, file: File | None, what: str | File | None) -> tuple[World, At]:
    if file is None or what is None:
        return world, At("confirm", at.token)
    assert at.row is not None
    assert at.row.name is not None
    there = dict(world.processed).get(at.row.name)
    if there is None:
        return world._replace(processed=world.processed | {(at.row.name, what)}), replace_step(at, "let go")
    return world, replace_step(at, "let go" if there == what else "choose")


def _let_go(world: World, at: At) -> tuple[World, At]:
    return world.holding(at.token, None), At("confirm", at.token)


def _confirm(world: World, at: At) -> tuple[World, At]:
    row = world.row_of(at.token)
    return (world if row is None else world.with_row(row._replace(placed=True))), IDLE


def replace_step(at: At, step: str) -> At:
    """The same knowledge at another step."""
    return at._replace(step=step)


# What others do, or what ours would be with one thing left out


def in_place(*, checked: bool) -> Protocol:
    """Copied and recorded where it lies, then removed, with a look whether it still is what was copied or without."""

    def copy(world: World, _: At) -> tuple[World, At]:
        if world.inbox is None:
            return world, IDLE
        content = world.contents[world.inbox]
        return world._replace(store=world.store | {content}, tokens=world.tokens + 1), At(
            "record", world.tokens, content
        )

    def record(world: World, at: At) -> tuple[World, At]:
        return world.with_row(Row(at.token, at.content, placed=True)), At(
            "check" if checked else "remove", content=at.content
        )

    def check(world: World, at: At) -> tuple[World, At]:
        same = world.inbox is not None and world.contents[world.inbox] == at.content
        return world, At("remove", content=at.content) if same else IDLE

    def remove(world: World, at: At) -> tuple[World, At]:
        name = f"n{len(world.processed)}"  # a copy is kept, so that only the removal is at fault
        return world._replace(inbox=None, processed=world.processed | {(name, at.content)}), IDLE

    return Protocol(_only_inbox("copy"), {"copy": copy, "record": record, "check": check, "remove": remove})


def renamed_after_the_insert() -> Protocol:
    """Copied and recorded where it lies, then moved to its last place."""
    base = in_place(checked=False)

    def move(world: World, _: At) -> tuple[World, At]:
        if world.inbox is None:
            return world, IDLE
        name = f"n{len(world.processed)}"
        return world._replace(inbox=None, processed=world.processed | {(name, world.inbox)}), IDLE

    return Protocol(base.starts, {**base.steps, "remove": move})


def disposed_before_the_commit(*, far: bool) -> Protocol:
    """Claimed and copied into the store, moved for good, and recorded last."""
    base = ours(far=far)

    def dispose(world: World, at: At) -> tuple[World, At]:
        gone = world.holding(at.token, None)
        return gone._replace(processed=world.processed | {(f"n{at.token}", at.content)}), replace_step(at, "record")

    def copy(world: World, at: At) -> tuple[World, At]:
        after, then = _copy(world, at)
        return after, then if then == IDLE else replace_step(then, "dispose")

    return Protocol(base.starts, {**base.steps, "copy": copy, "dispose": dispose}, far)


def without_asking_for_writers(*, far: bool) -> Protocol:
    """Moved for good also while somebody has it open."""
    base = ours(far=far)

    def ask(world: World, at: At) -> tuple[World, At]:
        return world, At("compare", at.token, at.content, released=True)

    return Protocol(base.starts, {**base.steps, "ask": ask}, far)


def compared_before_asking(*, far: bool) -> Protocol:
    """Compared first, and only then asked whether somebody has it open."""
    base = ours(far=far)

    def compare(world: World, at: At) -> tuple[World, At]:
        after, then = _compare(world, at._replace(released=True))
        return after, replace_step(then, "ask last") if then.step == "choose" else then

    def ask_last(world: World, at: At) -> tuple[World, At]:
        file = world.file_of(at.token)
        return world, IDLE if file is None or file in world.writers else replace_step(at, "choose")

    changed = {"ask": lambda world, at: (world, replace_step(at, "compare")), "compare": compare, "ask last": ask_last}
    return Protocol(base.starts, {**base.steps, **changed}, far)


def renamed_over(*, far: bool) -> Protocol:
    """Moved to the name it had, whoever has it now."""
    base = ours(far=far)

    def move(world: World, at: At) -> tuple[World, At]:
        file = world.file_of(at.token)
        if file is None:
            return world, At("confirm", at.token)
        what = world.contents[file] if far else file
        return world.holding(at.token, None)._replace(processed=frozenset({("n", what)})), At("confirm", at.token)

    return Protocol(base.starts, {**base.steps, "move": move}, far)


def with_a_new_token_each_time() -> Protocol:
    """The folder's name is no token: who finds a file there takes it under a new one."""
    base = ours(far=False)

    def copy(world: World, at: At) -> tuple[World, At]:
        after, then = _copy(world, at)
        return after, then if then == IDLE else then._replace(row=Row(world.tokens, then.content))

    def record(world: World, at: At) -> tuple[World, At]:
        fresh: Token = 100 + len(world.rows)
        return world.with_row(Row(fresh, at.content, placed=True)), At("let go", at.token)

    return Protocol(base.starts, {**base.steps, "copy": copy, "record": record})


def _only_inbox(step: str) -> Callable[[World], list[At]]:
    return lambda world: [] if world.inbox is None else [At(step)]
