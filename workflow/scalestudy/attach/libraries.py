"""Notes files of libraries that do not use Python's functions, and of programs that a script starts."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

Note = Callable[[str, Any], None]
"""Called with a kind and a path, as defined in paths.py."""
WORDS = 100
"""Largest number of words of a command that are noted."""


def of_modules(note: Note) -> dict[str, Callable[[Any], None]]:
    """Module name -> function to call with the module once it is imported."""

    def changed(name: Any) -> None:
        note("r" if os.path.exists(name) else "m", name)
        note("u", name)

    def safetensors(module: Any) -> None:
        before(module, "save_file", lambda _, filename="", *_more, **_named: note("w", filename))
        before(module, "load_file", lambda filename, *_more, **_named: note("r", filename))

    def sqlite(module: Any) -> None:
        def connected(database: Any, *_more: Any, **_named: Any) -> None:
            name = os.fsdecode(database)
            if name and name != ":memory:" and not name.startswith("file:"):
                changed(name)

        before(module, "connect", connected)

    def h5py(module: Any) -> None:
        def opened(_: Any, name: Any, mode: Any = "r", *_more: Any, **_named: Any) -> None:
            if isinstance(name, (str, bytes, os.PathLike)):
                if mode in ("a", "r+"):
                    changed(name)
                else:
                    note("r" if mode == "r" else "w", name)

        before(module.File, "__init__", opened)

    return {"safetensors.torch": safetensors, "sqlite3": sqlite, "h5py": h5py}


def of_torch(torch: Any, note: Note) -> None:
    """Note the files that torch writes in C++, to which only their names are passed."""
    writer = getattr(torch.serialization, "_open_zipfile_writer_file", None)
    if writer is not None:
        before(writer, "__init__", lambda _, name, *_more, **_named: note("w", name))
    before(torch.jit, "save", lambda _, name, *_more, **_named: note("w", name))
    before(
        torch.autograd.profiler.profile, "export_chrome_trace", lambda _, path, *_more, **_named: note("w", path)
    )


def of_programs(note: Note) -> None:
    """Note the words of commands, which may be files that the program writes."""

    def started(_: Any, command: Any, *_more: Any, cwd: Any = None, **_named: Any) -> None:
        words = shlex.split(command) if isinstance(command, str) else command
        words = [words] if isinstance(words, (bytes, os.PathLike)) else words
        for word in list(words)[1:WORDS]:
            path = os.fsdecode(word).rpartition("=")[2]
            if path and not path.startswith("-"):
                note("x", os.path.join(cwd, path) if cwd else path)

    before(subprocess.Popen, "__init__", started)
    before(os, "system", lambda command: started(None, command))


def before(owner: Any, name: str, look: Callable[..., None]) -> None:
    """Call `look` with the arguments of a function before each of its calls. Errors of `look` are ignored."""
    original = getattr(owner, name, None)
    if original is None:
        return

    def called(*arguments: Any, **named: Any) -> Any:
        with contextlib.suppress(Exception):
            look(*arguments, **named)
        return original(*arguments, **named)

    called.__name__, called.__doc__ = name, original.__doc__
    setattr(owner, name, called)
