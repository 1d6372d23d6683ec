"""Checks whether a script and its framework accept the given arguments: starts it, and ends it before it trains.

The script is ended once its arguments are parsed, or, with a framework that may still refuse some, at the first
optimizer, process group, batch or backward pass. A refusal is an error that ends the script; an error that the
script catches does not count.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import sys
import traceback
from typing import Any, NoReturn

from .begin import After
from .failure import own_frames
from .hooks import wrap

FRAMEWORKS = ("transformers", "trl", "lightning", "pytorch_lightning", "accelerate", "torch")
LATER = FRAMEWORKS[:-1]
"""Frameworks that may refuse an argument that the parser has accepted."""
REPORT = "arguments.json"
UNEXPECTED = re.compile(r"(?:(\w+)\.)?__init__\(\) got an unexpected keyword argument '(\w+)'")
UNUSED = "not used by the HfArgumentParser"
INVALID = " is not a valid "


class Check:
    """The check in this interpreter. direct: whether the launcher started it; other processes report nothing."""

    def __init__(self, folder: str, *, direct: bool) -> None:
        self._path = os.path.join(folder, REPORT)
        self._direct = direct
        self._facts: dict[str, Any] = {"parsed": False}

    def begin(self) -> None:
        """Install the hooks, before the script begins."""
        sys.meta_path.insert(0, After({"torch": self._torch}))
        hook = sys.excepthook

        def failed(kind: Any, error: Any, where: Any) -> None:
            self._failed(error)
            hook(kind, error, where)

        sys.excepthook = failed
        self._parsers()

    def _parsers(self) -> None:
        refuse, parse = argparse.ArgumentParser.error, argparse.ArgumentParser.parse_args

        def refused(parser: Any, message: str) -> NoReturn:
            self._write(refused={"who": "its parser", "said": message, "takes": options(parser), "at": ""})
            refuse(parser, message)

        def parsed(parser: Any, *arguments: Any, **named: Any) -> Any:
            found = parse(parser, *arguments, **named)
            self._write(parsed=True, refused=None)
            if not any(name in sys.modules for name in LATER):
                self._leave("the end of its parser")
            return found

        argparse.ArgumentParser.error = refused  # type: ignore[assignment, method-assign]
        argparse.ArgumentParser.parse_args = parsed  # type: ignore[assignment, method-assign]

    def _torch(self, torch: Any) -> None:
        from torch.utils.data import DataLoader

        places = [
            (torch.optim.Optimizer, "__init__", "its first optimizer"),
            (DataLoader, "__iter__", "its first batch"),
            (torch.autograd, "backward", "its first backward pass"),
            (torch.autograd, "grad", "its first backward pass"),
        ]
        if torch.distributed.is_available():
            distributed = torch.distributed
            places += [
                (module, "init_process_group", "its process group")
                for module in (distributed, distributed.distributed_c10d)
            ]
        for owner, name, what in places:
            wrap(owner, name, self._at(what))

    def _at(self, what: str) -> Any:
        def around(_original: Any) -> Any:
            def reached(*_arguments: Any, **_named: Any) -> NoReturn:
                self._leave(what)

            return reached

        return around

    def _leave(self, what: str) -> NoReturn:
        """End the script here, without an exception."""
        self._write(reached=what, refused=None)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def _failed(self, error: BaseException) -> None:
        """Note the error that ends the script, and whether a framework refused an argument."""
        own = own_frames(error)
        where = f"{own[-1].filename}:{own[-1].lineno}" if own else ""
        self._write(error=f"{type(error).__name__}: {error}")
        found = refusal(error, own[-1].line or "" if own else "")
        if found:
            self._write(refused={**found, "said": str(error).strip(), "at": where})

    def _write(self, **facts: Any) -> None:
        self._facts.update(facts)
        versions = {name: getattr(sys.modules.get(name), "__version__", None) for name in FRAMEWORKS}
        content = {**self._facts, "versions": {name: str(value) for name, value in versions.items() if value}}
        if self._direct:
            with open(self._path + ".tmp", "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(self._path + ".tmp", self._path)


def refusal(error: BaseException, line: str) -> dict[str, Any] | None:
    """{who, takes} for an error that an argument causes on any machine; None for other errors.

    line: the line of the script that the error came from.
    """
    text = str(error)
    unexpected = UNEXPECTED.search(text)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, TypeError) and unexpected and frames:
        for name in [unexpected[1]] if unexpected[1] else re.findall(r"\w+", line):  # Python 3.9 names no class
            framework, of_framework = class_of(name, frames)
            if framework:
                return {"who": framework, "takes": list(inspect.signature(of_framework).parameters)}
    if isinstance(error, ValueError) and UNUSED in text:
        parser = next(
            filter(None, (of_parser(frame) for frame, _ in traceback.walk_tb(error.__traceback__))), None
        )
        return {"who": "transformers", "takes": options(parser) if parser else []}
    if isinstance(error, ValueError) and INVALID in text:
        for top in map(package_of, frames):
            if top in LATER:
                return {"who": top, "takes": []}
    return None


def class_of(name: str, frames: list[Any]) -> tuple[str, Any]:
    """Return (framework that has a class of this name, the class); ('', None) if there is none.

    frames: of an error. Several frameworks have a Trainer: the framework is the one that the error came from, or
    the one that the script imported the class from.
    """
    last = frames[-1]
    known = [last.f_globals.get(name), *(getattr(value, name, None) for value in list(last.f_globals.values()))]
    tops = [package_of(last), *(str(getattr(one, "__module__", "")).partition(".")[0] for one in known if one)]
    for top in (*tops, *FRAMEWORKS):
        found = getattr(sys.modules.get(top), name, None) if top in FRAMEWORKS else None
        if inspect.isclass(found):
            return top, found
    return "", None


def package_of(frame: Any) -> str:
    """The package of a frame's code."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def of_parser(frame: Any) -> Any:
    """The parser whose method a frame runs; None for another frame."""
    mine = frame.f_locals.get("self")
    return mine if isinstance(mine, argparse.ArgumentParser) else None


def options(parser: Any) -> list[str]:
    """The options of a parser, such as --epochs."""
    return [word for word in parser._option_string_actions if word.startswith("--")]
