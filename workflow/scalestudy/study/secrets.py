"""Secrets in the environment: their values must not be in any study, record, log or page.

Secrets are recognised by their names: HF_TOKEN, WANDB_API_KEY, AWS_SECRET_ACCESS_KEY, PGPASSWORD.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

_NAME = re.compile(r"(^|_)[A-Z0-9]*(TOKEN|KEY|PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL)S?(_|$)")
_PLACE = re.compile(r"_(DIR|FILE|PATH)$")
"""Ends of the names of variables that hold the place of a secret, such as SSH_KEY_DIR."""
PUBLIC = frozenset({"NCCL_IB_PKEY"})
"""Settings for speed whose names look like secrets."""
SHORTEST = 6
"""Shortest value that is searched for, in characters: a shorter one, such as `1`, is in many words by chance."""
SHORTEST_LINE = 12
"""The same for one line of a value with several lines, such as a private key."""


def is_secret(variable: str) -> bool:
    """Whether a variable of this name holds a secret."""
    name = variable.upper()
    return name not in PUBLIC and not _PLACE.search(name) and _NAME.search(name) is not None


def secrets(environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """(text, its variable) of all values that must not be written, the longest first."""
    found: dict[str, str] = {}
    for name, value in environment.items():
        if is_secret(name):
            lines = value.splitlines()
            parts = [
                value.strip(),
                *(line.strip() for line in lines if len(lines) > 1 and len(line) >= SHORTEST_LINE),
            ]
            found |= {part: name for part in parts if len(part) >= SHORTEST}
    return sorted(found.items(), key=lambda item: -len(item[0]))


def without_secrets(value: Any, known: list[tuple[str, str]] | None = None) -> Any:
    """The same text, bytes, list or mapping, with the name of its variable instead of each secret."""
    known = secrets() if known is None else known
    if not known:
        return value
    if isinstance(value, str):
        for text, name in known:
            value = value.replace(text, f"[value of {name}]")
        return value
    if isinstance(value, bytes):
        for text, name in known:
            value = value.replace(text.encode("utf-8", "surrogateescape"), f"[value of {name}]".encode())
        return value
    if isinstance(value, Mapping):
        return {without_secrets(key, known): without_secrets(inner, known) for key, inner in value.items()}
    return [without_secrets(inner, known) for inner in value] if isinstance(value, list | tuple) else value


def written_secrets(content: Any, path: str = "") -> Iterator[str]:
    """A line for each secret in a study's content: variables that are secrets, and words that contain one."""
    if isinstance(content, Mapping):
        for key, inner in content.items():
            place = f"{path}.{key}" if path else str(key)
            if key == "environment" and isinstance(inner, Mapping):
                yield from (
                    f"{place}.{name}: a secret would be written into every record of the study; leave it out and"
                    " set it in the shell, whose variables all ranks get"
                    for name, value in inner.items()
                    if value and is_secret(str(name))
                )
            elif key == "command":
                yield from _in_words(inner, place)
            else:
                yield from written_secrets(inner, place)
    elif isinstance(content, list | tuple):
        for inner in content:
            yield from written_secrets(inner, path)


def _in_words(command: Any, path: str) -> Iterator[str]:
    words = command if isinstance(command, list | tuple) else [command]
    for text, name in secrets():
        if len(text) >= SHORTEST_LINE and any(text in str(word) for word in words):
            yield (
                f"{path}: contains the value of the variable {name}, and would be written into every record of the"
                " study; let the script read it from its environment"
            )
