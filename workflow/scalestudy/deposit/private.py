"""What must not be published, and what a reader should know of: secrets, and folders of the machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from scalestudy.deposit.layout import SCRIPTS
from scalestudy.errors import UserError
from scalestudy.study.secrets import secrets

TEXTS = (".json", ".txt", ".csv", ".yaml", ".tex", ".html", ".svg", ".md")
_PATTERNS = {
    "a token of Hugging Face": rb"\bhf_[A-Za-z0-9]{30,}",
    "a token of GitHub": rb"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50})",
    "a token of GitLab": rb"\bglpat-[A-Za-z0-9_-]{20}",
    "a key of AWS": rb"\bAKIA[0-9A-Z]{16}\b",
    "a token of Slack": rb"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a password in an address": rb"\b[a-z][a-z0-9+.-]+://[^\s/:@\"']{1,64}:[^\s/:@\"']{3,64}@[A-Za-z0-9]",
}
SECRETS = {what: re.compile(pattern) for what, pattern in _PATTERNS.items()}
_FOLDERS = b"home|Users|root|scratch|work|project|projects|gpfs|lustre|mnt|data|tmp|var|opt|srv|nfs|storage"
PATHS = re.compile(rb"(?<![\w/.:~-])/(?:" + _FOLDERS + rb")/[\w.+@-]+")


def refuse_secrets(folder: Path, names: list[str], variables: Mapping[str, str]) -> None:
    """Raise UserError, naming the file, if one contains the value of a secret variable, or looks like one.

    variables: those of the study; the variables of this process count too.
    """
    both = [*secrets(), *secrets(variables)]
    known = [(text.encode("utf-8", "surrogateescape"), name) for text, name in both]
    for name in names:
        content = (folder / name).read_bytes()
        variable = next((variable for text, variable in known if text in content), "")
        what = f"the value of the variable {variable}" if variable else ""
        if not what and _is_text(name):
            what = next((what for what, pattern in SECRETS.items() if pattern.search(content)), "")
        if what:
            raise UserError(
                f"{name}: contains {what}, which would be published; move the run away, or run it again"
            )


def paths_in(folder: Path, names: list[str]) -> dict[str, int]:
    """Return the number of folders of the machine in text files, by file; files of runs together."""
    found: Counter[str] = Counter()
    for name in names:
        if _is_text(name) and (count := len(PATHS.findall((folder / name).read_bytes()))):
            found[re.sub(r"^runs/[^/]+/", "runs/*/", name)] += count
    return dict(sorted(found.items()))


def _is_text(name: str) -> bool:
    return name.endswith(TEXTS) or name.startswith(f"{SCRIPTS}/")
