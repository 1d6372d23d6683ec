"""Options that several commands share; each means the same in all of them."""

import gc
import json
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from scalestudy.cli.command import Several, Verb
from scalestudy.cli.naming import find_results
from scalestudy.errors import UserError
from scalestudy.registry.results import DATA, RESULTS

PATH = click.Path(path_type=Path)
SELDOM = (200_000, 20, 100)
"""Thresholds of the garbage collector. With Python's default of 700 new objects, a command that reads many tables
and draws many figures spends a tenth of its time in the collector."""
YAML = (".yaml", ".yml", ".json")
DEVICE = "Device of every rank. auto: CUDA if a CUDA device is visible, else the CPU."
CORES = "CPU cores per rank. Default: this host's cores divided by the ranks; on GPUs at most 8."
RUN_TO_END = "Let the script run to its own end. Default: a run ends when its step time is known."
ALLOW_EQUAL_BATCHES = "Allow ranks of the script to read identical samples."
ALLOW_SHARED = "Allow runs of the script to share files outside {out}."
PYTHON = "Python interpreter of the script. Default: this one."

verb = partial(click.command, cls=Verb)
path = partial(click.option, type=PATH)
study = path(
    "--study",
    cls=Several,
    more=lambda word: word.endswith(YAML),
    metavar="FILE...",
    help="Study file. Later files override keys of earlier ones, as with Snakemake's --configfile. The package's"
    " own studies, such as config/studies/digits.yaml, are found from any folder. Default: config/config.yaml, or"
    " the only study under results/.",
)
results = path("--results", metavar="FOLDER", help="Results folder of the study. Default: results/STUDY.")
despite_load = click.option(
    "--despite-load", is_flag=True, help="Judge also if most runs were measured under other load."
)
data = path("--data", metavar="FOLDER", default=DATA, help="Folder of prepared data.")

IN_A_STUDY = {
    "scales": "scales",
    "scale": "scales",
    "batch_size": "batch_size of the workload",
    "scaling": "scaling of the workload",
    "epochs": "epochs of the workload",
    "run_to_end": "run_to_end of the workload",
    "allow_equal_batches": "allow_equal_batches of the workload",
    "name": "study",
    "repeats": "repeats",
    "device": "host.device",
    "cores_per_rank": "host.cores_per_rank",
}
"""Options for a script, and the keys of a study that say the same."""

_OF_TABLES = (
    click.option("--line", type=click.IntRange(min=1), help="Only the table whose header is at this line."),
    click.option(
        "--scaling", type=click.Choice(["weak", "strong"]), help="Scaling that a table of step times shows."
    ),
    path("--columns", "mapping", metavar="FILE", help="The same for many columns: a YAML file, HEADER: KIND."),
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="HEADER=KIND",
        help="What a column is, such as 'Speed=throughput_per_gpu' or 'Time=ignore'. For several columns give it"
        " several times. A wrong KIND lists all kinds.",
    ),
)


def refuse_without_script(context: click.Context) -> None:
    """Raise UserError if an option for a script was given with a study."""
    for name, key in IN_A_STUDY.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise UserError(f"{option}: only for a script after `--`; set {key} in the study file instead")


def refuse_for_scripts(has_scripts: bool, **given: object) -> None:
    """Raise UserError if an option for scripts was given with a study without one. given: values by parameter."""
    for name, value in given.items():
        if value and not has_scripts:
            option = f"--{name.replace('_', '-')}"
            raise UserError(f"{option}: only for workloads with a `command`, which this study does not have")


def table_columns(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that say how a published table is read: `columns`, `mapping`, `scaling` and `line`."""
    for option in _OF_TABLES:
        function = option(function)
    return function


def of_results(short_help: str, having: str = "plan") -> Callable[[Callable[..., int]], click.Command]:
    """Return a decorator for a command with --study and --results.

    The function gets `results`, the folder that these options name (naming.find_results).
    """

    def decorate(function: Callable[..., int]) -> click.Command:
        @wraps(function)
        def command(*, study: tuple[Path, ...], results: Path | None, **others: Any) -> int:
            gc.set_threshold(*SELDOM)
            return function(results=find_results(study, results, having=having), **others)

        return verb(short_help=short_help)(study(results(command)))

    return decorate


def entries(name: str, part: str) -> Callable[..., list[CompletionItem]]:
    """Return a shell completion: the keys of one part of a JSON file in the results (registry/results.py)."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            folder = find_results(ctx.params.get("study") or (), ctx.params.get("results"), having=name)
            keys = json.loads((folder / RESULTS[name]).read_text(encoding="utf-8"))[part]
        except (UserError, OSError, ValueError, KeyError):
            return []
        return [CompletionItem(key) for key in keys if key.startswith(incomplete)]

    return complete
