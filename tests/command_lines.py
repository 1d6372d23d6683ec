"""Command lines that users may type: all verbs and options, read from click, with good and bad values by kind."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from scalestudy.cli.command import LazyChoice, LazyGroup
from scalestudy.cli.main import program

LAUNCHING = {"run", "verify", "tune", "guard", "find-batch", "demo", "accept", "train", "prepare"}
"""Verbs that start processes if their arguments are valid: they get at least one wrong value."""
BAD_NUMBERS = ("x", "", "1e3", "-1", "9" * 30, "inf", "nan", "-inf", "1e999", "½", "0x10", "1_000", "٣", " ", "--")
BAD_TEXTS = (
    *("", "nope", "\udcff\udcfe", "a" * 5000, "../..", "a=b", "{x}"),
    *("résumé-😀", "a\tb", "\u202eabc", "*", "%s"),
)
HALF_WRITTEN = (
    *(
        "[",
        "{",
        "a: b: c",
        "*a",
        "'",
        '"',
        "\\",
        "=",
        "=[",
        "batch_size=[",
        "precision={x",
        "a.b.c=1",
        "a=b=c",
        "{}",
    ),
    *("1x0", "0x1", "1x", "x2", "1x99999999", "-1x2", "1.5x2", "1x2x3", "5%", "B=", "=B", "*.csv=8", "log.csv="),
    *(
        "step_time",
        "step_time >",
        "step_time > +-3%",
        "step_time > nan%",
        "step_time > +1e999%",
        "throughput < -100%",
    ),
    *(
        "8 GB/s",
        "0GB/s",
        "-1GB/s",
        "1e400GB/s",
        "-1ms",
        "infs",
        "0M",
        "9" * 400,
        "!!python/object/apply:os.getcwd []",
    ),
    *("gpus=ignore", "gpus=nonsense", "throughput=devices", "gpus=", "-3%", "0", "1.5"),
)
"""Values in the small languages of our options, not quite right."""
BASES: dict[str, tuple[str, ...]] = {
    "plan": ("--study", "first.yaml"),
    "summary": ("--results", "results/first"),
    "number": ("mlp.ddp.strong.n2.speedup", "--results", "results/first"),
    "compare": ("results/first", "results/second", "--out", "compared"),
    "estimate": ("--params", "10M", "--gpus", "8", "--bandwidth", "10GB/s"),
    "audit": ("audit-good.csv",),
    "forecast": ("audit-good.csv",),
    "import": ("log.csv", "--study", "imported", "--batch", "32", "--no-documents"),
    "export": ("--results", "results/first", "--format", "csv", "--to", "exported"),
    "deposit": ("--results", "results/first", "--licence", "MIT", "--creator", "A", "--to", "a.zip"),
    "retry": ("--results", "results/first"),
    "new": (),
    "tune": ("first.yaml", "--budget", "1", "--dry-run"),
    "verify": ("--results", "results/first", "--dry-run"),
    "run": ("--dry-run", "--study", "missing.yaml"),
    "guard": ("--fail-if", "step_time > +3%", "--against", "no-revision", "--", "train.py"),
    "find-batch": ("--study", "first.yaml", "--workload", "mlp", "--variant", "missing"),
}
"""Command lines in which one value at a time is replaced. None of them launches a run."""
TABLES = {
    "audit-inf.csv": "gpus,throughput\n1,inf\n2,3\n",
    "audit-nan.csv": "gpus,throughput\nnan,1\n",
    "audit-huge.csv": "gpus,throughput\n1,1e400\n2,1e-400\n",
    "audit-exponent.csv": "gpus,throughput\n1,1e999999999\n",
    "audit-zero.csv": "gpus,throughput,step_time_ms,global_batch\n1,0,0,0\n2,0,0,0\n",
    "audit-negative.csv": "gpus,throughput\n1,-4\n-2,3\n",
    "audit-many.csv": f"gpus,throughput\n{'9' * 40},1\n",
    "audit-one.csv": "gpus,throughput\n1,100\n",
    "audit-same.csv": "gpus,throughput\n2,100\n2,200\n",
    "audit-speedup.csv": "gpus,speedup\n1,1e-30\n2,1e30\n4,0.5\n",
    "audit-good.csv": "gpus,throughput,printed_efficiency\n1,100,100%\n2,180,90%\n4,300,75%\n",
    "audit-wide.csv": "gpus,throughput\n1,100,3,4,5\n2\n",
    "audit-quote.csv": 'gpus,throughput\n1,"100\n2,3\n',
    "audit-empty.csv": "",
    "audit-header.csv": "gpus,throughput\n",
    "log.csv": "gpus,step_time_ms\n1,10\n2,6\n",
    "audit-digits.csv": "gpus,throughput\n1,٣\n",
}


@dataclass(frozen=True)
class Line:
    """A command line, and whether it is certainly wrong."""

    words: tuple[str, ...]
    wrong: bool
    """If true, the command must end with 2."""


def make_place(folder: Path) -> None:
    """Create everything that a path may name: complete and broken files, folders, pipes, links."""
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "empty-file").touch()
    (folder / "empty-folder").mkdir()
    (folder / "foreign").mkdir()
    (folder / "foreign/plan.json").write_text('{"name": "of another program"}')
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nothing")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / os.fsdecode(b"odd-\xff\xfe")).write_text("x")


BAD_PATHS = (
    *("missing", "binary", "empty-file", "empty-folder", "foreign", "pipe", "loop", "dangling", "zero", ""),
    *("/dev/null", "/proc/self/mem", "a" * 300, "a/" * 3000, "odd-\udcff\udcfe", "\udcff", "😀", "a\nb", "/", "."),
    *("missing/below", "empty-file/below", "/root", "~", "-"),
)
WRITTEN = {"out", "write", "tex_log", "schema", "readme", "documents", "columns", "captions", "data", "results"}
"""Path options whose paths need not exist."""


def lines(seed: int, count: int) -> list[Line]:
    """Yield command lines for all verbs and stages in turn."""
    choice = random.Random(seed)
    commands = list(_commands())
    return [_line(choice, *commands[number % len(commands)]) for number in range(count)]


def mutated(seed: int, count: int) -> list[Line]:
    """Return lines of BASES in turn, each with one bad value."""
    choice = random.Random(seed)
    found = dict(_commands())
    names = list(BASES)
    return [
        _mutated(choice, name, found[name,]) for name in (names[number % len(names)] for number in range(count))
    ]


def _mutated(choice: random.Random, name: str, command: click.Command) -> Line:
    parameters = [one for one in command.get_params(click.Context(command)) if "--help" not in one.opts]
    words, parameter = list(BASES[name]), choice.choice(parameters)
    if not isinstance(parameter, click.Option):
        own = words[1:] if words and not words[0].startswith("-") else words
        return Line((name, choice.choice(_bad(parameter)), *own), wrong=False)
    flag = parameter.opts[0]
    if flag in words:
        at = words.index(flag)
        del words[at : at + (1 if parameter.is_flag else 2)]
    value = () if parameter.is_flag else (choice.choice(_bad(parameter)),)
    return Line((name, flag, *value, *words), wrong=bool(value) and value[0] in _surely_wrong(parameter))


def _commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for path, group in (((), program), (("stage",), program.get_command(click.Context(program), "stage"))):
        assert isinstance(group, LazyGroup)
        for name in group.listed:
            command = group.get_command(click.Context(group), name)
            if command is not None and not isinstance(command, click.Group):
                yield (*path, name), command


def _line(choice: random.Random, path: tuple[str, ...], command: click.Command) -> Line:
    parameters = [one for one in command.get_params(click.Context(command)) if "--help" not in one.opts]
    words, wrong = list(path), False
    chosen = choice.sample(parameters, choice.randint(0, min(4, len(parameters))))
    launching = path[-1] in LAUNCHING
    if launching and not any(_surely_wrong(one) for one in chosen):
        chosen.append(choice.choice([one for one in parameters if _surely_wrong(one)]))
    for number, parameter in enumerate(chosen):
        last = launching and number == len(chosen) - 1
        good = not last and choice.random() < 0.4
        if (last or choice.random() < 0.3) and _surely_wrong(parameter):
            values = _surely_wrong(parameter)
            wrong = True
        else:
            values = _good(parameter) if good else _bad(parameter)
        value = choice.choice(values) if values else None
        flag = isinstance(parameter, click.Option) and parameter.is_flag
        words += [parameter.opts[0]] if isinstance(parameter, click.Option) else []
        if not flag and value is not None and choice.random() < 0.97:
            words.append(value)
    if choice.random() < 0.05:
        words.append(choice.choice(["--nope", "-Z", "--", "extra", "\udcff"]))
    return Line(tuple(words), wrong)


def _surely_wrong(parameter: click.Parameter) -> tuple[str, ...]:
    """Return values that no command accepts for a parameter; empty if there are no such values."""
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return ()
    if isinstance(parameter.type, click.Choice | LazyChoice):
        return ("nope", "\udcff", "a" * 5000)
    if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
        return ("x", "½x", "1 2", "\udcff")
    return ("missing-study.yaml", "empty-folder", "binary") if parameter.name == "study" else ()


def _bad(parameter: click.Parameter) -> tuple[str, ...]:
    if isinstance(parameter.type, click.Path):
        return (*BAD_PATHS, *TABLES) if parameter.name == "table" else BAD_PATHS
    if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
        return BAD_NUMBERS
    return (*BAD_TEXTS, *BAD_NUMBERS, *HALF_WRITTEN)


def _good(parameter: click.Parameter) -> tuple[str, ...]:
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return tuple(map(str, kind.choices))
    if isinstance(kind, LazyChoice):
        return tuple(kind.words())
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return ("1", "2", "3")
    if isinstance(kind, click.Path):
        if parameter.name in WRITTEN - {"results"}:
            return ("made-file", "made/below")
        return ("first.yaml",) if parameter.name in ("study", "file") else ("results/first", "audit-good.csv")
    return ("mlp", "ddp", "1x2", "32", "1M", "1GB/s", "mlp.ddp.strong.n2.speedup", "step_time > +3%")
