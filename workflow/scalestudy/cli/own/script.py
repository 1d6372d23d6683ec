"""Turns a training command, as typed in a shell, into a study of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import yaml

from scalestudy.errors import UserError
from scalestudy.study.config.scripts import is_python_file, is_python_script
from scalestudy.study.config.yaml_file import read_yaml

LAUNCHERS = {
    "torchrun": ("--nproc-per-node", "--nnodes"),
    "torch.distributed.run": ("--nproc-per-node", "--nnodes"),
    "torch.distributed.launch": ("--nproc-per-node", "--nnodes"),
    "accelerate": ("--num-processes", "--num-machines"),
    "accelerate.commands.launch": ("--num-processes", "--num-machines"),
    "deepspeed": ("--num-gpus", "--num-nodes"),
}
"""Launcher -> its options for processes and nodes; underscores and hyphens are the same."""
OF_ALL_MACHINES = ("accelerate", "accelerate.commands.launch")
"""Launchers whose number of processes is that of all machines together."""
FLAGS = {
    *("--standalone", "--multi-gpu", "--cpu", "--no-python", "--run-path", "--use-deepspeed", "--use-fsdp"),
    *("--mixed-precision-fp16", "--dynamo-use-dynamic", "--quiet", "--tpu", "--debug"),
}
"""Options of launchers without a value."""
MODULE = "-m"
PASSED = {"-u": 1, "-O": 1, "-B": 1, "-W": 2, "-X": 2}
"""Options of Python that are left out together with it -> their number of words."""
ISOLATING = {"-I", "-E", "-S"}
"""With these options Python ignores PYTHONPATH or sitecustomize, so that scalestudy cannot attach."""
OTHER_LAUNCHERS = (
    *("srun", "mpirun", "mpiexec", "horovodrun", "composer", "fabric", "lightning", "ipython"),
    *("uv", "poetry", "conda", "docker", "singularity", "apptainer"),
)
"""Programs in front of a training script whose options we do not parse."""
ALLOW_SHARED = "    allow_shared: true"
ALLOW_EQUAL_BATCHES = "    allow_equal_batches: true"
ALLOWED = (ALLOW_SHARED, ALLOW_EQUAL_BATCHES)
"""Lines of the study file that the options --allow-shared and --allow-equal-batches add, in their order."""
SCALING = "    scaling: "
"""Beginning of the line behind them."""


@dataclass(frozen=True)
class Asked:
    """A command line without its launcher."""

    command: tuple[str, ...]
    launcher: str
    """The words that were left out; may be empty."""
    scale: str
    """NODESxDEVICES from the launcher's options; empty if they do not give it."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables set in front of the command, as in a shell."""


def without_launcher(words: Sequence[str]) -> Asked:
    """Return the script and its arguments. Raises UserError if the command has no Python script."""
    rest = list(words)
    if rest[:1] == ["env"]:
        rest.pop(0)
    variables = []
    while rest and (found := re.fullmatch(r"([A-Za-z_]\w*)=(.*)", rest[0], re.DOTALL)):
        variables.append((found[1], found[2]))
        rest.pop(0)
    return replace(_of_launcher(rest, words), environment=tuple(variables))


def _of_launcher(rest: list[str], words: Sequence[str]) -> Asked:
    """Return the same for a command line without variables in front."""
    taken: list[str] = []
    if rest and re.fullmatch(r"python[\d.]*", PurePath(rest[0]).name):
        taken.append(rest.pop(0))
        while rest and rest[0] in PASSED:
            taken += [rest.pop(0) for _ in rest[: PASSED[rest[0]]]]
        if rest and rest[0] in ISOLATING:
            raise UserError(
                f"{taken[0]} {rest[0]}: scalestudy attaches to a script with PYTHONPATH and sitecustomize, which"
                " Python ignores with this option; leave it out"
            )
    name = PurePath(rest[0]).name if rest else ""
    if rest[:1] == [MODULE] and len(rest) > 1 and rest[1] in LAUNCHERS:
        name = rest[1]
        taken.append(rest.pop(0))
    if name not in LAUNCHERS:
        return Asked(_script(rest, words), " ".join(taken), "")
    taken.append(rest.pop(0))
    if name == "accelerate" and rest[:1] == ["launch"]:
        taken.append(rest.pop(0))
    told, module = _options(rest, taken)
    processes, nodes = (told.get(option, "") for option in LAUNCHERS[name])
    scale = f"{nodes or 1}x{processes}" if processes.isdigit() and (nodes or "1").isdigit() else ""
    if scale and name in OF_ALL_MACHINES and nodes:
        scale = f"{nodes}x{max(1, int(processes) // int(nodes))}"
    return Asked(_script([*module, *rest], words), " ".join(taken), scale)


def _options(rest: list[str], taken: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return (launcher options with their values, `-m` if its script is a module). Moves them to `taken`."""
    told: dict[str, str] = {}
    module: list[str] = []
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        taken.append(word)
        if word in ("-m", "--module"):
            module = [MODULE]
            continue
        option, equals, value = word.replace("_", "-").partition("=")
        last = not rest or rest[0].startswith("-") or is_python_file(rest[0])
        if not equals and option not in FLAGS and not last:
            value = rest.pop(0)
            taken.append(value)
        told[option] = value
    return told, module


def _script(rest: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """Return the script and its arguments. An installed command of Python becomes the path of its file."""
    if len(rest) > (rest[:1] == [MODULE]) and (rest[0] == MODULE or is_python_file(rest[0])):
        return tuple(rest)
    if rest and PurePath(rest[0]).name not in OTHER_LAUNCHERS:
        found = shutil.which(rest[0])
        if found and is_python_script(found):
            return (found, *rest[1:])
    raise UserError(_no_script(rest, words))


def _no_script(rest: Sequence[str], words: Sequence[str]) -> str:
    """The reason why a command has no Python script that can be started, and what to change."""
    if not rest:
        return f"{' '.join(words)}: the script is missing; put its file after it"
    first, name = rest[0], PurePath(rest[0]).name
    if name in OTHER_LAUNCHERS:
        return (
            f"{first}: leave it and its options out, so that the command starts with the script. scalestudy starts"
            " the ranks for each scale, on a cluster with --profile slurm; --python selects another environment"
        )
    if script := next((word for word in rest[1:] if is_python_file(word)), ""):
        return f"{first}: not a Python script. Leave out all words before {script}"
    if name.endswith(".ipynb"):
        return f"{first}: a notebook. Make a script of it with `jupyter nbconvert --to script {first}`"
    if name.endswith(".sh") or name in ("bash", "sh"):
        return f"{first}: a shell script. Give the training command that it has, beginning with the Python script"
    return (
        f"{first}: not a Python script. A command starts with a file ending in .py, an installed command of"
        " Python, or -m and a module; for other programs scalestudy can only check their scaling tables"
        " (`scalestudy audit TABLE.csv`)"
    )


def name_of(command: Sequence[str]) -> str:
    """Return a name for the study of a script, from the name of its file or module."""
    word = command[1].rpartition(".")[2] if command[0] == MODULE else PurePath(command[0]).stem
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:40] or "training"


def cores_for_each(ranks: int) -> int:
    """Return the number of cores of this host per rank."""
    return max(1, len(os.sched_getaffinity(0)) // ranks)


def cores_or_unset(ranks: int, *, device: str, elsewhere: bool = False) -> int | None:
    """Return the cores of this host per rank; None on GPUs, where each node finds the number itself.

    elsewhere: on a cluster, where jobs request GPUs unless the device is `cpu`.
    """
    from scalestudy.study.config.conditions import Host
    from scalestudy.tune.devices import runs_on_cuda

    if device != "cpu" and (elsewhere or runs_on_cuda(Host.model_validate({"device": device}))):
        return None
    return cores_for_each(ranks)


def quoted(words: Sequence[str]) -> str:
    """Return words as one line of YAML, quoted as in a shell, with unchanged braces."""
    shell = " ".join(word if re.fullmatch(r"[\w{}@%+=:,./-]+", word) else _single(word) for word in words)
    plain = re.fullmatch(r"[\w./-][\w{}@%+=,./ -]*", shell)
    return shell if plain else '"' + shell.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _single(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


def study_text(
    *,
    name: str,
    command: Sequence[str],
    batch_size: int,
    batches_per_step: int,
    scaling: Sequence[str],
    scales: Sequence[str],
    strategy: str,
    base_launcher: str,
    repeats: int | None,
    device: str,
    cores_per_rank: int | None,
    run_to_end: bool,
    epochs: int,
    environment: Sequence[tuple[str, str]] = (),
    allow_shared: bool = False,
    allow_equal_batches: bool = False,
) -> str:
    """Return the text of a study file."""
    base = "{strategy: single}" if base_launcher == "python" else "{strategy: single, launcher: torchrun}"
    lines = [
        f"study: {name}",
        *([f"repeats: {repeats}"] if repeats else []),
        f"scales: [{', '.join(scales)}]",
        "variants:",
        f"  single: {base}",
        f"  {'distributed' if strategy == 'other' else strategy}: {{strategy: {strategy}}}",
        "workloads:",
        f"  {name}:",
        f"    command: {quoted(command)}",
        f"    batch_size: {batch_size}",
        *([f"    batches_per_step: {batches_per_step}"] if batches_per_step > 1 else []),
        *([f"    epochs: {epochs}"] if epochs else []),
        *(["    run_to_end: true"] if run_to_end else []),
        *([f"    environment: {json.dumps(dict(environment), ensure_ascii=False)}"] if environment else []),
        *([ALLOW_SHARED] if allow_shared else []),
        *([ALLOW_EQUAL_BATCHES] if allow_equal_batches else []),
        f"{SCALING}[{', '.join(scaling)}]",
        f"host: {{device: {device}{f', cores_per_rank: {cores_per_rank}' if cores_per_rank else ''}}}",
    ]
    return "\n".join(lines) + "\n"


def write_study(path: Path, text: str) -> None:
    """Write the file, or keep an equal one. Raises UserError if the path has a different file.

    `allow_shared` and `allow_equal_batches` are not compared. The file keeps those it has, and gets those of
    the text.
    """
    if path.exists():
        there = path.read_text(encoding="utf-8")
        if _allowing(there, ()) != _allowing(text, ()):
            refuse_other_study(path, text)
            raise UserError(_exists(path, "different content"))
        text = _allowing(text, [line for line in ALLOWED if line in there or line in text])
        if text == there:
            return
    path.write_text(text, encoding="utf-8")


def _allowing(text: str, allowed: Sequence[str]) -> str:
    """The text of a study that allows what these lines say, and nothing else."""
    for line in ALLOWED:
        text = text.replace(f"{line}\n", "")
    return text.replace(SCALING, "".join(f"{line}\n" for line in allowed) + SCALING, 1)


def refuse_other_study(path: Path, text: str, *, except_for: Container[str] = ()) -> None:
    """Raise UserError, with the keys, if the path has a study whose values differ from those of the text.

    except_for: names of keys whose values are not known yet.
    """
    if not path.exists():
        return
    try:
        there, now = _values(read_yaml(path)), _values(yaml.safe_load(text))
    except UserError:
        return
    keys = dict.fromkeys([*now, *there])
    other = [key for key in keys if there.get(key) != now.get(key) and key.split(".")[-1] not in except_for]
    if other:
        told = "; ".join(f"{key} is {_told(there, key)} there and {_told(now, key)} here" for key in other[:3])
        raise UserError(_exists(path, f"other values: {told}"))


def _values(content: object, name: str = "") -> dict[str, object]:
    """Return the values of nested mappings by their dotted keys."""
    if not isinstance(content, dict):
        return {name: content}
    inner = [_values(value, f"{name}.{key}" if name else str(key)) for key, value in content.items()]
    return {key: value for values in inner for key, value in values.items()}


def _told(values: Mapping[str, object], key: str) -> str:
    return json.dumps(values[key], ensure_ascii=False) if key in values else "not set"


def _exists(path: Path, how: str) -> str:
    return (
        f"{path}: already exists with {how}. Run it with `scalestudy run --study {path}`, change or remove it, or"
        " give the new study another --name"
    )
