"""A model of intake: two watchers, somebody who drops, replaces, grows or removes a file, and crashes, step by step.

Nothing here touches a file or a database. `explored` visits every order in which the steps may come, and says what a
protocol loses, doubles or overwrites on the way. A step is what the system does at once: a rename, a read, a
transaction. Files are numbered; what they hold is a letter that grows by a plus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tests.model.exploring import Found, Step, explore

Token = int
File = int
NO_TOKEN = -1
MOST_TOKENS = 6  # what a user does gives reason for fewer; a protocol that goes beyond does not end
PASSES = 12  # more than any order of steps leaves to do


class Row(NamedTuple):
    """An arrival: what was taken, which name was chosen, and whether its file has its last place."""

    token: Token
    content: str
    name: str | None = None
    placed: bool = False


class At(NamedTuple):
    """Where a watcher stands: the step it does next, and what it knows."""

    step: str = "idle"
    token: Token = NO_TOKEN
    content: str = ""
    released: bool = False
    row: Row | None = None


IDLE = At()


class World(NamedTuple):
    """Everything there is. `contents` goes by number of a file; `owed` is what must not be lost.

    `destroyed` are files that the user himself took away by replacing or removing them, `came` all contents there ever
    were, in no order.
    """

    contents: tuple[str, ...]
    writers: frozenset[File]
    inbox: File | None
    held: frozenset[tuple[Token, File]] = frozenset()
    processed: frozenset[tuple[str, str | File]] = frozenset()
    store: frozenset[str] = frozenset()
    rows: frozenset[Row] = frozenset()
    tokens: int = 0
    owed: frozenset[str] = frozenset()
    came: tuple[str, ...] = ()
    destroyed: frozenset[File] = frozenset()
    user: frozenset[str] = frozenset()
    watchers: tuple[At, ...] = (IDLE, IDLE)

    def file_of(self, token: Token) -> File | None:
        """The file that a token's private folder holds."""
        return next((file for each, file in self.held if each == token), None)

    def row_of(self, token: Token) -> Row | None:
        """The arrival of a token."""
        return next((row for row in self.rows if row.token == token), None)

    def with_row(self, row: Row) -> World:
        """The row instead of the one its token had."""
        others = frozenset(each for each in self.rows if each.token != row.token)
        return self._replace(rows=others | {row})

    def holding(self, token: Token, file: File | None) -> World:
        """A file in a token's folder, or none."""
        others = frozenset(each for each in self.held if each[0] != token)
        return self._replace(held=others if file is None else others | {(token, file)})

    def placed_content(self, what: str | File) -> str:
        """What a processed file holds: a copy its own, a file itself whatever it has grown to."""
        return self.contents[what] if isinstance(what, int) else what


Act = Callable[[World, At], tuple[World, At]]


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a watcher works: what it may begin, and what each step does. `far` puts processed/ on another file system."""

    starts: Callable[[World], list[At]]
    steps: Mapping[str, Act]
    far: bool = False


def first_drop(*, open_for_writing: bool, user: frozenset[str]) -> World:
    """A file was dropped into the inbox, and its writer may still have it open."""
    return World(
        contents=("a",),
        writers=frozenset({0}) if open_for_writing else frozenset(),
        inbox=0,
        owed=frozenset({"a"}),
        came=("a",),
        user=user,
    )


def explored(protocol: Protocol, first: World, *, wanted: str | None = None) -> Found:
    """Every fault that some order of steps leads to. Ends early once the fault that is `wanted` is found."""
    recovered: dict[World, str] = {}
    return explore(
        first,
        lambda world: _following(protocol, world),
        lambda world: _faults(protocol, world, recovered),
        wanted=wanted,
    )


def _is_endless(world: World) -> bool:
    return max(world.tokens, len(world.rows)) > MOST_TOKENS


def _following(protocol: Protocol, world: World) -> Iterator[Step[World]]:
    if _is_endless(world):
        return
    yield from _user(world)
    for number, at in enumerate(world.watchers):
        if at == IDLE:
            moves = [(start, world, start) for start in protocol.starts(world)]
        else:
            moves = [(at, *protocol.steps[at.step](world, at))]
            yield Step(f"a watcher dies before: {_named(at)}", _stands(world, number, IDLE))  # and a new one starts
        for doing, after, then in moves:
            yield Step(f"a watcher begins: {_named(doing)}" if at == IDLE else _named(at), _stands(after, number, then))


def _named(at: At) -> str:
    return at.step if at.token == NO_TOKEN else f"{at.step}, token {at.token}"


def _stands(world: World, number: int, at: At) -> World:
    watchers = [*world.watchers]
    watchers[number] = at
    return world._replace(watchers=tuple(sorted(watchers, key=hash)))  # which of them it is makes no difference


def _user(world: World) -> Iterator[Step[World]]:
    """What somebody may do, each thing once. What he destroys himself is owed no more."""
    for action in world.user:
        after = world._replace(user=world.user - {action})
        if action == "grow" and world.writers:
            yield Step("somebody appends to the file", _grown(after))
        elif action == "close" and world.writers:
            yield Step("somebody closes the file", after._replace(writers=frozenset()))
        elif action == "replace":
            gone = _without_inbox(after)
            new = _owing(gone._replace(contents=(*gone.contents, "b"), inbox=len(gone.contents)), "b")
            yield Step("somebody drops another file of that name", new)
        elif action == "remove" and world.inbox is not None:
            yield Step("somebody removes the file", _without_inbox(after))


def _grown(world: World) -> World:
    (file,) = world.writers
    before = world.contents[file]
    contents = (*world.contents[:file], before + "+", *world.contents[file + 1 :])
    grown = world._replace(contents=contents)
    return grown if file in world.destroyed else _owing(grown._replace(owed=world.owed - {before}), before + "+")


def _without_inbox(world: World) -> World:
    if world.inbox is None:
        return world
    owed = world.owed - {world.contents[world.inbox]}
    return world._replace(inbox=None, owed=owed, destroyed=world.destroyed | {world.inbox})


def _owing(world: World, content: str) -> World:
    return world._replace(owed=world.owed | {content}, came=tuple(sorted((*world.came, content))))


def _faults(protocol: Protocol, world: World, recovered: dict[World, str]) -> Iterator[str]:
    if _is_endless(world):
        yield "endless"
    on_disk = {world.contents[file] for _, file in world.held} | {
        world.placed_content(what) for _, what in world.processed
    }
    if world.inbox is not None:
        on_disk.add(world.contents[world.inbox])
    durable = {row.content for row in world.rows if row.content in world.store}
    if any(content not in on_disk | durable for content in world.owed):
        yield "lost"
    taken = [row.content for row in world.rows]
    if any(taken.count(content) > world.came.count(content) for content in taken):
        yield "taken twice"
    if all(at == IDLE for at in world.watchers):
        yield from filter(None, [_after_recovery(protocol, world, recovered)])


def _after_recovery(protocol: Protocol, world: World, recovered: dict[World, str]) -> str:
    """What is wrong once one watcher had all the time it needs, and nobody writes any more."""
    key = world._replace(writers=frozenset(), user=frozenset(), came=())
    if key not in recovered:
        settled = key
        for _ in range(PASSES):
            for start in protocol.starts(settled):
                settled = _alone(protocol, settled, start)
        recovered[key] = _unfinished(settled)
    return recovered[key]


def _alone(protocol: Protocol, world: World, at: At) -> World:
    while at != IDLE:
        world, at = protocol.steps[at.step](world, at)
    return world


def _unfinished(world: World) -> str:
    if world.inbox is not None or world.held:
        return "stuck"
    if any(content not in {row.content for row in world.rows} for content in world.owed):
        return "never read"
    if any(content not in {world.placed_content(what) for _, what in world.processed} for content in world.owed):
        return "never placed"
    return ""
