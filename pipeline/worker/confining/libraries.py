"""Where Python and its libraries read files after the start, and nothing beside that.

A folder of the module path is not always a folder of modules: a command that was started in a project's folder has that
folder in its path, with its database password and its documents. Of such a one only the modules in it count.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

# Shared libraries, time zones, fonts, languages of tesseract; what allocators and mathematics ask of the machine.
OF_THE_SYSTEM = (
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/libexec",
    "/lib",
    "/lib64",
    "/usr/share",
    "/usr/local/share",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/fonts",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
)
IN_A_PREFIX = ("lib", "lib64", "share", "pyvenv.cfg")
# Of packages, and of the standard library: they hold modules and nothing else.
FOLDERS_OF_MODULES = frozenset({"site-packages", "dist-packages", "lib-dynload", Path(os.__file__).parent.name})
MODULE_SUFFIXES = (".py", ".pyc", ".so")


def library_paths() -> list[Path]:
    """Folders and files to read from; some may not exist."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    inside = [Path(prefix, name) for prefix in sorted(prefixes) for name in IN_A_PREFIX]
    return [*map(Path, OF_THE_SYSTEM), *inside, *_modules(sys.path, inside)]


def module_paths() -> list[Path]:
    """What of the module path exists: who cannot read it cannot run this program."""
    return [path for path in _modules(sys.path, ()) if path.exists()]


def _modules(entries: Iterable[str], known: Sequence[Path]) -> Iterator[Path]:
    for entry in entries:
        path = Path(entry or ".").absolute()
        if any(path.is_relative_to(each) for each in known):
            continue
        if path.name in FOLDERS_OF_MODULES or not path.is_dir():
            yield path  # what is no folder is an archive of modules
        else:
            yield from _modules_in(path)


def _modules_in(folder: Path) -> Iterator[Path]:
    try:
        found = list(os.scandir(folder))
    except OSError:
        return
    if any(each.name.endswith(".dist-info") for each in found):
        yield folder  # packages were installed into it
        return
    for each in found:
        if each.name.endswith(MODULE_SUFFIXES) or os.access(Path(each.path, "__init__.py"), os.F_OK):
            yield Path(each.path)
