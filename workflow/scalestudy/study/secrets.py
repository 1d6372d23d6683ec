"""Secrets in the environment: their values are in no study, record, log or page.

A variable is taken for a secret by its name: HF_TOKEN, WANDB_API_KEY, AWS_SECRET_ACCESS_KEY, PGPASSWORD.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

_NAME = re.compile(r"(^|_)[A-Z0-9]*(TOKEN|KEY|PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL)S?(_|$)")
PUBLIC = frozenset({"NCCL_IB_PKEY"})
"""Named like secrets, but settings that bear on speed."""
SHORTEST = 6
"""Characters of a value that is looked for in texts: a shorter one, such as `1`, is in many words by chance."""
SHORTEST_LINE = 12
"""Of a line of a value with several, such as a private key."""


def is_secret(variable: str) -> bool:
    """Whether a variable of this name holds a secret."""
    name = variable.upper()
    return name not in PUBLIC and _NAME.search(name) is not None


def secrets(environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """(text, variable that has it), the longest first, of all that must not be written down."""
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
    """The same text, bytes, list or mapping, in which each secret is replaced by the name of its variable."""
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
    """Problems of a study's content, a line each: its variables that are secrets, and words that hold one."""
    if isinstance(content, Mapping):
        for key, inner in content.items():
            place = f"{path}.{key}" if path else str(key)
            if key == "environment" and isinstance(inner, Mapping):
                yield from (
                    f"{place}.{name}: a secret is written into every record of its runs; leave it out and set it"
                    " in the shell, whose variables all ranks get"
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
                f"{path}: holds the value of the variable {name}, and is written into every record of its runs;"
                " let the script read it from its environment"
            )
