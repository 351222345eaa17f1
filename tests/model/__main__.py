"""`python -m tests.model` prints the shortest way to each mutant's fault, then explores every world, the large too."""

from __future__ import annotations

import time

from tests.model.lease import OURS
from tests.model.lease_surroundings import explored
from tests.model.lease_variants import COVERED, MUTANTS
from tests.model.telling import told


def main() -> None:
    """Print what was found."""
    for name, mutant in MUTANTS.items():
        found, _ = explored(mutant.design, mutant.setting, wanted=mutant.breaks)
        print(f"\n{name}\n  breaks {mutant.breaks}")
        for number, label in enumerate(told(found.traces[mutant.breaks]), start=1):
            print(f"  {number:3}. {label}")
    print()
    for name, covered in COVERED.items():
        began = time.process_time()
        found, _ = explored(OURS, covered.setting)
        seconds = time.process_time() - began
        print(f"{found.states:9,} states {seconds:6.1f} s  {name}: {', '.join(sorted(found.faults)) or 'no fault'}")


if __name__ == "__main__":
    main()
