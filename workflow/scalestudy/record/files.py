"""Reading and writing files. A file is written completely or not at all, so no reader ever sees half of one."""

import contextlib
import errno
import glob
import json
import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.study.named_file import read_named

WHY = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the disk quota is used up", "free some space"),
    errno.EROFS: ("the file system is read-only", "make it writable"),
    errno.EACCES: ("permission is denied", "allow it to be written"),
    errno.EPERM: ("it is not permitted", "allow it to be written"),
    errno.EIO: ("the disk reported an error", "check the disk"),
    errno.EFBIG: ("it is larger than the file size limit", "raise the limit (ulimit -f)"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n)"),
    errno.ENFILE: ("too many files are open on this host", "close some"),
    errno.ESTALE: ("the file system went away", "bring it back"),
    errno.ENOTCONN: ("the file system went away", "bring it back"),
    errno.ENODEV: ("the file system went away", "bring it back"),
    errno.ENOTDIR: ("a part of its path is a file", "move that file away"),
    errno.EISDIR: ("it is a folder", "move the folder away"),
    errno.ENAMETOOLONG: ("its path is too long", "choose a shorter one"),
    errno.ELOOP: ("symbolic links in its path form a loop", "remove them"),
}
"""Error number -> (why a file cannot be written, how to fix it)."""
ONLY_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
"""Error numbers that reading never gives."""

LONGEST_NAME = 200
"""Largest number of characters of a name that are printed."""


class UnwritableError(UserError, OSError):
    """A file cannot be written. The message names the file, the reason and the remedy."""


def unwritable(error: OSError, path: str | Path = "") -> UnwritableError:
    """Return the error with a message for the user. path: the file, if the error itself does not name it."""
    if isinstance(error, UnwritableError):
        return error
    name = path or error.filename or "a file"
    why, help_ = WHY.get(error.errno or 0, (error.strerror or str(error) or type(error).__name__, "fix this"))
    return UnwritableError(f"{name}: cannot be written: {why}; {help_} and run the same command again")


def failed(error: OSError) -> str:
    """Return which file the system refused, and why, where it is not known what was done with the file."""
    if isinstance(error, UnwritableError) or error.errno in ONLY_WRITING:
        return str(unwritable(error, _name_of(error)))
    why, _ = WHY.get(error.errno or 0, ((error.strerror or str(error) or type(error).__name__).lower(), ""))
    return f"{_name_of(error)}: {why}"


def _name_of(error: OSError) -> str:
    """Return the name of an error's file in at most about LONGEST_NAME characters."""
    name = os.fsdecode(error.filename2 or error.filename or "a file")
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..."


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn an OSError in this context into an UnwritableError that names `path`."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, path) from None


def why_not_writable(folder: Path) -> str:
    """Return why no file can be written into an existing folder, as a sentence; '' if one can."""
    if not folder.exists():
        return ""
    trial = folder / f".trial.{os.getpid()}"
    try:
        write_bytes(trial, bytes(8192))
    except UnwritableError as error:
        return (
            str(error).replace(str(trial), f"{folder}: files in it", 1).replace("it is larger", "they are larger")
        )
    with contextlib.suppress(OSError):
        trial.unlink()
    return ""


MOST_BYTES = 2 << 30
"""Size limit of a file that is read as a whole. The largest file seen so far has 1/100 of it."""
MOST_TEXT = 256 << 20
"""The same for JSON and CSV, whose values take some ten times as much memory as their text."""


def read_file(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file in a results folder, which may come from someone else.

    Raises FileNotFoundError if it is missing. Raises UserError if it is not a regular file, is larger than `most`
    bytes, cannot be read, or links to a file outside its folder: reading a pipe would never end, and the target
    of such a link is not part of the results.
    """
    try:
        size = path.stat().st_size  # fails for a link to itself, say
        if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
            raise UserError(f"{path}: is a link to a file outside its folder; replace it with the file itself")
        content = b"" if size > most else read_named(path, most=most + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        no_file = why.startswith("is ")  # as read_named words it
        raise UserError(f"{path}: {f'{why}; move it away' if no_file else f'cannot be read: {why}'}") from None
    if max(size, len(content)) > most:
        raise UserError(f"{path}: is larger than {most >> 20} MiB, too large for such a file; move it away")
    return content


def write_text(path: str | Path, text: str, *, lasting: bool = True) -> None:
    """Write a file under a temporary name in the same folder, then rename it.

    lasting: after a power cut the file has either its old content or all of the new content. A run that writes
    while it measures sets it to False: it then neither waits for the disk nor gives it additional work.
    """
    write_bytes(path, text.encode("utf-8"), lasting=lasting)


def write_bytes(path: str | Path, content: bytes, *, lasting: bool = True) -> None:
    """Write bytes as `write_text` writes text. If this fails, the target is unchanged and nothing else is left."""
    path = Path(path)
    if not path.name:  # '.', or an empty word of a command line
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = temporary_of(path)
    with writing(path):
        if path.exists() and not path.is_file():  # a rename would replace a device by a file
            raise OSError(errno.EEXIST, "a folder, a pipe or a device has this name", str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if lasting:
                remove_left(path)
            temporary.write_bytes(content)
            if lasting:
                sync(temporary)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def temporary_of(path: Path) -> Path:
    """Return the name under which this process writes a file, in the same folder."""
    return path.with_name(f".{path.name}.{os.getpid()}.{platform.node()}")


def remove_left(path: Path) -> None:
    """Remove what processes of this host left that were killed while they wrote this file.

    Processes of other hosts may still run; the name of the host is in that of the file.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.{glob.escape(platform.node())}"):
        from psutil import pid_exists  # only now: most calls find nothing, and the commands start without it

        pid = left.name.removeprefix(f".{path.name}.").removesuffix(f".{platform.node()}")
        if re.fullmatch(r"[0-9]{1,9}", pid) and not pid_exists(int(pid)):
            left.unlink(missing_ok=True)


def write_json(path: str | Path, content: Any, *, lasting: bool = True) -> None:
    """Write JSON with keys in the order of the content: the order of a plan is the order of its runs."""
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n", lasting=lasting)


def sync_folder(folder: Path) -> None:
    """Flush the files directly in a folder to disk, then the folder itself, so that both survive a power cut.

    Raises UnwritableError if the disk fails.
    """
    for path in [*(path for path in sorted(folder.iterdir()) if path.is_file()), folder]:
        with writing(path):
            sync(path)


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk. Raises OSError if the disk fails."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # the file system has no fsync
            raise
    finally:
        os.close(file)
