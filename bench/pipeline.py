"""What the whole pipeline costs beside bare reading: python bench/pipeline.py [--help]; bench/price.py says how.

A script's folder comes first when Python looks for a module, and this file bears the name of the package. So it begins
with setting that right, for itself and for the other scripts here.
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    sys.path[0] = str(_ROOT)
    from bench.price import main

    main()
else:
    __path__ = [str(_ROOT / "pipeline")]
