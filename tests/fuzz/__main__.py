"""`python -m tests.fuzz --minutes 10 [--target NAME] [--seed N] [--into FOLDER]`, or `--replay FILE --target NAME`.

Writes every input that is worth a look into a folder, beside what it did. Exit code 1 if there is a finding.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.fuzz.campaign import Campaign, Report, chosen
from tests.fuzz.runner import Runner
from tests.fuzz.targets import targets


def main() -> int:
    """Run a campaign or one input."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--target", action="append", default=[], help="only targets whose name begins so; repeatable")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--into", type=Path, default=Path("fuzz-findings"), help="folder for inputs worth a look")
    parser.add_argument("--replay", type=Path, help="try this one file")
    given = parser.parse_args()
    wanted = chosen(targets(), given.target)
    if given.replay:
        return _replay(wanted[0].name, given.replay.read_bytes())
    report = Campaign(wanted, seed=given.seed, into=given.into, say=_say).run(seconds=given.minutes * 60)
    _tell(report)
    return 1 if report.findings else 0


def _replay(target: str, data: bytes) -> int:
    with Runner() as runner:
        outcome = runner.try_one(target, data)
    _say(f"{target}: {outcome.word} {outcome.finding}")
    return 1 if outcome.finding else 0


def _tell(report: Report) -> None:
    total = report.inputs.total()
    _say(f"{total:,} inputs in {report.seconds:.0f} s: {total / max(report.seconds, 0.001):.0f} a second")
    _say("by target: " + ", ".join(f"{name} {count}" for name, count in sorted(report.inputs.items())))
    _say("ended as: " + ", ".join(f"{word} {count}" for word, count in report.words.most_common()))
    for title, found in (("findings", report.findings), ("deaths of C code", report.deaths)):
        _say(f"{title}: {len(found)}")
        for words, count in found.most_common():
            _say(f"  {count} x {words}")


def _say(words: str) -> None:
    print(words, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
