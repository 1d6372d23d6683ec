"""Revisions of a git repository as folders of their own, beside the working tree, which stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scalestudy.errors import UserError

OWN_FOLDERS = (".", "src")
"""Where a repository has its packages. Both sides look there first: a package that is installed in editable mode
would come from the working tree on both."""


@dataclass(frozen=True)
class Place:
    """A side's files."""

    folder: Path
    """What the working directory is in the repository."""
    root: Path
    """Of the repository."""
    name: str
    """'working tree', or the revision with its commit."""

    def python_path(self, here: Path, own: str) -> str:
        """PYTHONPATH of this side. own: what is set already; folders of the working tree `here` are replaced."""
        found = [self.root / name for name in OWN_FOLDERS if (self.root / name).is_dir()]
        for word in filter(None, own.split(os.pathsep)):
            path = Path(word)
            inside = path.is_absolute() and path.is_relative_to(here)
            found.append(self.root / path.relative_to(here) if inside else path)
        return os.pathsep.join(dict.fromkeys(map(str, found)))


def working_tree() -> Place:
    """The repository of the working directory as it is, with what is not committed. Raises UserError."""
    return Place(Path.cwd(), Path(_git("rev-parse", "--show-toplevel")), "working tree")


@contextmanager
def checked_out(revision: str, links: Sequence[Path] = ()) -> Iterator[Place]:
    """A revision in a temporary folder, which is removed at the end. Raises UserError.

    links: files and folders of the working directory that git does not have, such as data; they are linked into
    the folder.
    """
    here = working_tree()
    try:
        commit = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except UserError:
        raise UserError(
            f"{revision}: no revision of {here.root}; a branch, tag or commit is one. In a shallow clone fetch it"
            f" first: git fetch origin {revision}"
        ) from None
    missing = [link for link in links if link.is_absolute() or not link.exists()]
    if missing:
        raise UserError(f"--link {missing[0]}: no file or folder of {Path.cwd()}; name one relative to it")
    above = Path(tempfile.mkdtemp(prefix="scalestudy-guard-"))
    root = above / here.root.name
    try:
        _git("worktree", "add", "--detach", "--quiet", str(root), commit)
        folder = root / here.folder.resolve().relative_to(here.root.resolve())
        if not folder.is_dir():
            raise UserError(f"{revision}: has no folder {folder.relative_to(root)}; start from one that it has")
        for link in links:
            target = folder / link
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(link.resolve())
        yield Place(folder, root, f"{revision} ({commit[:10]})")
    finally:
        shutil.rmtree(above, ignore_errors=True)
        subprocess.run(["git", "-C", str(here.root), "worktree", "prune"], capture_output=True)


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True)
    except FileNotFoundError:
        raise UserError("git: not installed; a revision is taken out of a git repository") from None
    if done.returncode:
        raise UserError(f"git {' '.join(words[:2])}: {done.stderr.strip() or 'failed'}")
    return done.stdout.strip()
