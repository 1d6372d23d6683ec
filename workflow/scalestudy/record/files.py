"""Files: written whole or not at all, so that a reader never meets half of one; read only where they are files."""

import contextlib
import errno
import json
import os
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
    errno.EIO: ("the disk reported an error", "look at the disk"),
    errno.EFBIG: ("it is larger than the limit on the size of files", "raise the limit (ulimit -f)"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n)"),
    errno.ENFILE: ("too many files are open on this host", "close some"),
    errno.ESTALE: ("the file system went away", "bring it back"),
    errno.ENOTCONN: ("the file system went away", "bring it back"),
    errno.ENODEV: ("the file system went away", "bring it back"),
    errno.ENOTDIR: ("a part of its path is a file", "move that file away"),
    errno.EISDIR: ("a folder is in its place", "move the folder away"),
    errno.ENAMETOOLONG: ("its path is too long", "choose a shorter one"),
    errno.ELOOP: ("links of its path lead into themselves", "remove them"),
}
"""Error number -> (why a file cannot be written, what helps)."""


class UnwritableError(UserError, OSError):
    """A file cannot be written. Its text names the file, says why, and what helps."""


def unwritable(error: OSError, path: str | Path = "") -> UnwritableError:
    """The error in our words. path: the file that was to be written, if the error does not name one itself."""
    if isinstance(error, UnwritableError):
        return error
    name = path or error.filename or "a file"
    why, help_ = WHY.get(
        error.errno or 0, (error.strerror or str(error) or type(error).__name__, "put that right")
    )
    return UnwritableError(f"{name}: cannot be written: {why}; {help_} and call the same command again")


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Meanwhile `path` is written; UnwritableError names it where that fails."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, path) from None


def why_not_writable(folder: Path) -> str:
    """Why no file can be written into a folder that is there, as a sentence; '' if one can."""
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
"""Of a file that is read as a whole. The largest that was seen has a hundredth of it."""


def read_file(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """The content of a file of somebody's results, which may be anybody's.

    Raises FileNotFoundError, and UserError where it is no file, is larger than `most` bytes, cannot be read, or is
    a link to a file outside its folder: a pipe never ends, and what a link leads to was not handed over.
    """
    try:
        path.stat()  # a link to itself, say
        if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
            raise UserError(f"{path}: is a link to a file outside its folder; put the file itself there")
        content = read_named(path, most=most + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        no_file = why.startswith("is ")  # as read_named says
        raise UserError(f"{path}: {f'{why}; move it away' if no_file else f'cannot be read: {why}'}") from None
    if len(content) > most:
        raise UserError(f"{path}: is larger than {most >> 20} MiB, which no such file is; move it away")
    return content


def write_text(path: str | Path, text: str, *, lasting: bool = True) -> None:
    """Write under a temporary name beside the target, then rename.

    lasting: after a power cut the target has its old content or all of the new one. Without it a launch can write
    while it measures: it does not wait for the disk, and the disk has nothing more to do than it would have.
    """
    write_bytes(path, text.encode("utf-8"), lasting=lasting)


def write_bytes(path: str | Path, content: bytes, *, lasting: bool = True) -> None:
    """As `write_text`, for bytes. Where it cannot be written, nothing is left and the target is what it was."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path):
        if path.exists() and not path.is_file():  # a rename would put a file in the place of a device
            raise OSError(errno.EEXIST, "a folder, a pipe or a device is in its place", str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            if lasting:
                sync(temporary)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def write_json(path: str | Path, content: Any, *, lasting: bool = True) -> None:
    """JSON in the order of the content: the plan's order is the order of its launches."""
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n", lasting=lasting)


def sync_folder(folder: Path) -> None:
    """Put the files right in a folder onto the disk, then the folder's list of them: both outlast a power cut.

    Raises UnwritableError where the disk fails.
    """
    for path in [*(path for path in sorted(folder.iterdir()) if path.is_file()), folder]:
        with writing(path):
            sync(path)


def sync(path: Path) -> None:
    """Put a file onto the disk, or a folder's list of what is right in it. Raises OSError where the disk fails."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that has no such call
            raise
    finally:
        os.close(file)
