"""Checks out revisions of a git repository to separate folders, without changing the working tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from scalestudy.errors import UserError
from scalestudy.record.lock import exclusive_now

OWN_FOLDERS = (".", "src")
"""Folders of a repository that may have packages. Both sides search them first, since a package that is installed
in editable mode would come from the working tree on both sides."""

TEMPORARY = "scalestudy-guard-"
"""Prefix of temporary folders. A call that was killed leaves its own to the next one, which removes it."""


@dataclass(frozen=True)
class Place:
    """The files of one side."""

    folder: Path
    """The folder that corresponds to the working directory."""
    root: Path
    """Root of the repository."""
    name: str
    """'working tree', or the revision with its commit."""

    def python_path(self, here: Path, own: str) -> str:
        """Return PYTHONPATH of this side. own: its present value; folders of the tree `here` are replaced."""
        found = [self.root / name for name in OWN_FOLDERS if (self.root / name).is_dir()]
        for word in filter(None, own.split(os.pathsep)):
            path = Path(word)
            inside = path.is_absolute() and path.is_relative_to(here)
            found.append(self.root / path.relative_to(here) if inside else path)
        return os.pathsep.join(dict.fromkeys(map(str, found)))


def working_tree() -> Place:
    """Return the repository of the working directory, with its uncommitted changes. Raises UserError."""
    return Place(Path.cwd(), Path(_git("rev-parse", "--show-toplevel")), "working tree")


@contextmanager
def checked_out(revision: str, links: Sequence[Path] = ()) -> Iterator[Place]:
    """Check out a revision to a temporary folder, which is removed at the end. Raises UserError.

    links: files and folders of the working directory that are not in git, such as data. They are linked into the
    temporary folder.
    """
    here = working_tree()
    try:
        commit = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except UserError:
        raise UserError(
            f"{revision}: not a revision of {here.root}; give a branch, tag or commit. In a shallow clone, fetch"
            f" it first: git fetch origin {revision}"
        ) from None
    missing = [link for link in links if link.is_absolute() or not link.exists()]
    if missing:
        raise UserError(f"--link {missing[0]}: not a file or folder in {Path.cwd()}; give a path relative to it")
    with _temporary_folder() as above:
        root = above / here.root.name
        try:
            _git("worktree", "add", "--detach", "--quiet", str(root), commit)
            folder = root / here.folder.resolve().relative_to(here.root.resolve())
            if not folder.is_dir():
                raise UserError(
                    f"{revision}: has no folder {folder.relative_to(root)}; call scalestudy from a folder that it"
                    " has"
                )
            for link in links:
                target = folder / link
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.symlink_to(os.path.realpath(link))
            yield Place(folder, root, f"{revision} ({commit[:10]})")
        finally:
            shutil.rmtree(above, ignore_errors=True)
            subprocess.run(["git", "-C", str(here.root), "worktree", "prune"], capture_output=True)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Create a temporary folder with a lock beside it, and remove folders whose calls were killed."""
    place = Path(tempfile.gettempdir())
    for folder in place.glob(f"{TEMPORARY}*"):
        with suppress(OSError, UserError):
            if folder.is_dir() and not folder.is_symlink():
                with exclusive_now(folder.with_suffix(".lock")) as dead:
                    if dead:
                        shutil.rmtree(folder, ignore_errors=True)
    folder = place / f"{TEMPORARY}{uuid4().hex}"
    with exclusive_now(folder.with_suffix(".lock")):
        folder.mkdir(mode=0o700)
        yield folder


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True)
    except FileNotFoundError:
        raise UserError("git: not installed, but needed to check out a revision; install git") from None
    if done.returncode:
        raise UserError(f"git {' '.join(words[:2])}: {done.stderr.strip() or 'failed'}")
    return done.stdout.strip()
