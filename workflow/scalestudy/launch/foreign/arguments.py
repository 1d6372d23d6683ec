"""Checks whether a script accepts its arguments: it is started once, and ended before it trains
(attach/arguments.py)."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from scalestudy.launch.command import rank_environment
from scalestudy.launch.foreign.files import ASKED
from scalestudy.launch.foreign.start import ATTACHED, OUT, refusal, script_environment, script_python
from scalestudy.launch.process import run_group
from scalestudy.study.config.commands import filled
from scalestudy.study.spec import CommandSpec

TIME_LIMIT_S = 60.0
REPORT = "arguments.json"
RANK_VARIABLES = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}
USAGE_ERROR = 2
"""Exit code of a parser that refuses its arguments."""
OPTION, QUOTED = re.compile(r"(?<![\w-])--?[A-Za-z][\w.-]*"), re.compile(r"'(\w+)'")


@dataclass(frozen=True)
class Tried:
    """The result of trying one command line."""

    refused: str = ""
    """The error of the script or its framework, with similar names that it takes; empty if nothing is refused."""
    words: tuple[str, ...] = ()
    """Names of the refused arguments, without hyphens."""
    reached: str = ""
    """Up to which point of the script arguments were accepted; empty if unknown."""
    unchecked: str = ""
    """Why the arguments could not be checked."""


def try_arguments(spec: CommandSpec, *, time_limit_s: float = TIME_LIMIT_S) -> Tried:
    """Start the script on one process, and again with torchrun's variables if it needs them."""
    tried, asks_rank = _begun(spec, {}, time_limit_s)
    return _begun(spec, RANK_VARIABLES, time_limit_s)[0] if asks_rank else tried


def _begun(spec: CommandSpec, variables: dict[str, str], time_limit_s: float) -> tuple[Tried, bool]:
    """Return (the result, whether the script ended because a variable of torchrun was missing)."""
    if refused := refusal(spec):
        return Tried(unchecked=refused), False
    with tempfile.TemporaryDirectory(prefix="scalestudy-") as folder:
        directory = Path(folder).resolve()
        for name in (ATTACHED, OUT):
            (directory / name).mkdir()
        (directory / ATTACHED / ASKED).write_text(json.dumps({"arguments": True}), encoding="utf-8")
        log = directory / "log.txt"
        try:
            code, late = run_group(
                [script_python(), "-u", *filled(spec.command, {"out": directory / OUT})],
                environment=script_environment(spec, directory, rank_environment(spec)) | variables,
                log=log,
                time_limit_s=time_limit_s,
                watch=lambda: None,
                grace_s=2,
                directory=spec.directory,
            )
        except OSError as error:
            return Tried(unchecked=f"{script_python()}: {error.strerror}"), False
        report = directory / ATTACHED / REPORT
        said = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
        printed = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    asks_rank = any(f"'{name}'" in said.get("error", "") for name in RANK_VARIABLES) and not variables
    return _judged(said, printed, code, late=late, time_limit_s=time_limit_s), asks_rank


def _judged(said: dict[str, Any], printed: Sequence[str], code: int, *, late: bool, time_limit_s: float) -> Tried:
    versions = said.get("versions", {})
    with_versions = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "torch")
    refused = said.get("refused")
    if refused and not late and code:
        return _refused(refused, versions)
    if said.get("reached"):
        return Tried(reached=said["reached"] + (f"; {with_versions}" if with_versions else ""))
    if late:
        if said.get("parsed"):
            return Tried(reached=f"the end of its parser; it created no optimizer within {time_limit_s:g} s")
        return Tried(unchecked=f"its arguments were not read within {time_limit_s:g} s")
    if code == USAGE_ERROR and printed:
        return Tried(refused=printed[-1], words=_words(printed[-1]))
    if code:
        return Tried(unchecked=said.get("error") or (printed[-1] if printed else f"exit code {code}"))
    return Tried(reached="its end")


def _refused(refused: dict[str, Any], versions: dict[str, str]) -> Tried:
    """The refusal, with the framework's version and with similar names that it accepts."""
    words = _words(refused["said"])
    takes = {name.lstrip("-").replace("-", "_"): name for name in refused["takes"]}
    wrong = words if takes.keys().isdisjoint(words) else ()  # else the value is wrong
    near = [takes[name] for word in wrong for name in _near(word, list(takes))]
    who = f"{refused['who']} {versions[refused['who']]}" if refused["who"] in versions else refused["who"]
    found = f"{who}: {refused['said']}" + (f" ({refused['at']})" if refused["at"] else "")
    if near:
        found += f". It takes {', '.join(dict.fromkeys(near))}"
    return Tried(refused=found, words=words)


def _near(word: str, names: list[str]) -> list[str]:
    """Names that may have been meant by a word: similar ones, else those that are contained in it."""
    parts = [name for name in names if len(name) > 3 and name in word]
    return (get_close_matches(word, names, n=3, cutoff=0.6) or parts)[:3]


def _words(said: str) -> tuple[str, ...]:
    """Names of arguments in an error message: words with hyphens, returned without them; else words in quotes."""
    found = [word.lstrip("-") for word in OPTION.findall(said)] or QUOTED.findall(said)
    return tuple(dict.fromkeys(word.replace("-", "_") for word in found))
