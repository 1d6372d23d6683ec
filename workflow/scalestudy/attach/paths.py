"""Notes the files that a process writes, reads, or looks for in vain. They show whether runs share files.

Functions of the standard library that open, list or rename files are wrapped, as are those of libraries that open
files without Python. No audit hook is used, since Python would call it at every id(). A step that opens no file
costs nothing. A process appends lines to a file in the folder of the run as soon as it has written a file:

    KIND PHASE SECONDS PATH          SECONDS since 1970, only for the first time
    > PHASE SECONDS SOURCE NUL PATH  renamed

KIND is w (written), a (appended to), u (opened for changing), r (read), l (a folder was listed), m (looked for,
and missing), x (an argument of a program that was started), + (a folder: other files written in it are not noted).
PHASE is b before the first update of the model, t after it, f while a batch is fetched.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from .apart import HIDDEN, apart, not_counted

ENDING = "paths"
MOST = 4000
"""Largest number of paths of a kind that are noted per process."""
MOST_OF_A_FOLDER = 64
"""Largest number of these in one folder: a data set may have a million files."""
WRITTEN, READ = "wau", "rlmx"


class Wrapped:
    """Replaces a function. Unlike a function, it does not become a method as an attribute of a class."""

    def __init__(self, original: Any, call: Any, name: str) -> None:
        self._call, self.__wrapped__ = call, original
        self.__name__ = self.__qualname__ = name
        self.__doc__ = original.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named)

    def __reduce__(self) -> str:
        return self.__name__


class Paths:
    """The paths of this process. folder: `attached` of the run. phase: returns a letter, as above."""

    def __init__(self, folder: str, phase: Callable[[], str]) -> None:
        self._folder, self._phase = folder, phase
        self._own = (os.getcwd() + os.sep, os.path.dirname(os.path.abspath(sys.argv[0] or ".")) + os.sep)
        self._apart = apart(os.path.dirname(folder), self._own)
        self._elsewhere = not_counted()
        self._seen: dict[str, set[str]] = {WRITTEN: set(), READ: set()}
        self._counted: dict[tuple[str, str], int] = {}
        self._lines: list[str] = []
        self._quiet = False
        self._open, self._stat, self._file = os.open, os.stat, -1

    def begin(self) -> None:
        """Wrap the functions that open files."""
        builtins.open = io.open = self._opening(io.open, "open")
        self._put(os, "open", self._opening_flags)
        for name in ("stat", "lstat"):
            self._put(os, name, self._looking)
        for name in ("listdir", "scandir"):
            self._put(os, name, self._listing)
        for name in ("rename", "replace", "link", "symlink"):
            self._put(os, name, self._renaming)
        self._put(os, "chdir", self._changing)
        self._put(os, "makedirs", self._making)
        os.register_at_fork(after_in_child=self._forked)

    def note(self, kind: str, path: Any, source: Any = None) -> None:
        """Note a path with one of the kinds above. No error of this reaches the script."""
        try:
            phase = self._phase()
            of = WRITTEN if kind in WRITTEN or kind == ">" else READ
            key = f"{kind}{phase}{path}" if source is None else f"{kind}{phase}{source}\0{path}"
            seen = self._seen[of]
            if key in seen or self._quiet or len(seen) >= MOST:
                return
            seen.add(key)
            whole = self._counts(path, of)
            if whole:
                if of is WRITTEN:  # later reads are noted again: they read what was written
                    self._seen[READ].difference_update({f"r{letter}{path}" for letter in "btf"})
                begun = "" if source is None else os.path.abspath(os.fsdecode(source)) + "\0"
                self._lines.append(f"{kind} {phase} {time.time():.6f} {begun}{whole}\n")
                if of is WRITTEN or len(self._lines) > 100:
                    self.write()
        except Exception:
            return

    def write(self) -> None:
        """Append the notes to the file of this process."""
        text, self._lines = "".join(self._lines), []
        if text:
            if self._file < 0:
                name = f"{os.getpid()}-{time.time_ns():x}.{ENDING}"
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._file = self._open(os.path.join(self._folder, name), flags, 0o666)
            os.write(self._file, text.encode("utf-8", "surrogateescape"))

    def _counts(self, path: Any, of: str) -> str:
        """The absolute path if it must be noted; else ''."""
        if isinstance(path, int):
            return ""
        whole = os.path.abspath(os.fsdecode(path))
        ended = whole + os.sep
        if "\n" in whole or ended.startswith(self._apart) or any(part in ended for part in HIDDEN):
            return ""
        if ended.startswith(self._elsewhere) and not ended.startswith(self._own):
            return ""
        place = (of, os.path.dirname(whole))
        self._counted[place] = count = self._counted.get(place, 0) + 1
        if count == MOST_OF_A_FOLDER + 1 and of is WRITTEN:
            self._lines.append(f"+ {self._phase()} {time.time():.6f} {place[1]}\n")
        return whole if count <= MOST_OF_A_FOLDER else ""

    def _put(self, owner: Any, name: str, make: Any) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return
        wrapper = make(original, name)
        wrapper.__module__ = owner.__name__
        setattr(owner, name, wrapper)
        for supported in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if original in supported:
                supported.add(wrapper)

    def _opening(self, original: Any, name: str) -> Any:
        note = self.note

        def call(file: Any, mode: Any = "r", *arguments: Any, **named: Any) -> Any:
            try:
                found = original(file, mode, *arguments, **named)
            except FileNotFoundError:
                note("m", file)
                raise
            if "r" in mode:
                note("r", file)
                if "+" in mode:
                    note("u", file)
            else:
                note("a" if "a" in mode else "w", file)
            return found

        wrapper = Wrapped(original, call, name)
        wrapper.__module__ = "io"
        return wrapper

    def _opening_flags(self, original: Any, name: str) -> Any:
        note = self.note

        def call(path: Any, flags: Any, *arguments: Any, **named: Any) -> Any:
            try:
                found = original(path, flags, *arguments, **named)
            except FileNotFoundError:
                note("m", path)
                raise
            if not flags & (os.O_WRONLY | os.O_RDWR):
                note("l" if flags & os.O_DIRECTORY else "r", path)
            elif flags & os.O_APPEND:
                note("a", path)
            else:
                note("w" if flags & (os.O_CREAT | os.O_TRUNC) else "u", path)
            return found

        return Wrapped(original, call, name)

    def _looking(self, original: Any, name: str) -> Any:
        note = self.note

        def call(path: Any, *arguments: Any, **named: Any) -> Any:
            try:
                return original(path, *arguments, **named)
            except FileNotFoundError:
                note("m", path)
                raise

        return Wrapped(original, call, name)

    def _listing(self, original: Any, name: str) -> Any:
        note = self.note

        def call(path: Any = None, *arguments: Any, **named: Any) -> Any:
            note("l", "." if path is None else path)
            return original(path, *arguments, **named)

        return Wrapped(original, call, name)

    def _renaming(self, original: Any, name: str) -> Any:
        note, moved = self.note, name in ("rename", "replace")

        def call(src: Any, dst: Any, *arguments: Any, **named: Any) -> Any:
            found = original(src, dst, *arguments, **named)
            if moved:
                note(">", dst, source=src)
            else:
                note("w", dst)
            return found

        return Wrapped(original, call, name)

    def _changing(self, original: Any, name: str) -> Any:
        def call(path: Any) -> Any:
            found = original(path)
            for seen in self._seen.values():  # relative paths have another meaning from here on
                seen.clear()
            return found

        return Wrapped(original, call, name)

    def _making(self, original: Any, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            quiet, self._quiet = self._quiet, True  # makedirs looks for the parent folders
            try:
                return original(*arguments, **named)
            finally:
                self._quiet = quiet

        return Wrapped(original, call, name)

    def _forked(self) -> None:
        """Start a new file in a forked child. What it reads as a worker is noted again."""
        self._file, self._lines = -1, []
