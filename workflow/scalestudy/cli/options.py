"""Options that several commands have; each means the same in all of them."""

import gc
import json
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from scalestudy.cli.command import Several, Verb
from scalestudy.cli.naming import find_results
from scalestudy.errors import UserError
from scalestudy.registry.results import DATA, RESULTS

PATH = click.Path(path_type=Path)
SELDOM = (200_000, 20, 100)
"""How often the collector looks for what is no longer used. At Python's 700 new objects a command that reads many
tables and draws many figures spends a tenth of its time there."""
YAML = (".yaml", ".yml", ".json")

verb = partial(click.command, cls=Verb)
path = partial(click.option, type=PATH)
study = path(
    "--study",
    cls=Several,
    more=lambda word: word.endswith(YAML),
    metavar="FILE...",
    help="Study file. If several are given, each overrides keys of those before it, as with snakemake's"
    " --configfile. A ready study, such as config/studies/digits.yaml, is found in the package. Default:"
    " config/config.yaml, or the only study under results/.",
)
results = path("--results", metavar="FOLDER", help="Results folder of the study. Default: results/STUDY.")
data = path("--data", metavar="FOLDER", default=DATA, help="Folder of prepared data.")


def of_results(short_help: str, having: str = "plan") -> Callable[[Callable[..., int]], click.Command]:
    """A command with --study and --results, given `results`: the folder that they name (naming.find_results)."""

    def decorate(function: Callable[..., int]) -> click.Command:
        @wraps(function)
        def command(*, study: tuple[Path, ...], results: Path | None, **others: Any) -> int:
            gc.set_threshold(*SELDOM)
            return function(results=find_results(study, results, having=having), **others)

        return verb(short_help=short_help)(study(results(command)))

    return decorate


def entries(name: str, part: str) -> Callable[..., list[CompletionItem]]:
    """Completion for the shell: keys of a part of a JSON file of the study's results (registry/results.py)."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            folder = find_results(ctx.params.get("study") or (), ctx.params.get("results"), having=name)
            keys = json.loads((folder / RESULTS[name]).read_text(encoding="utf-8"))[part]
        except (UserError, OSError, ValueError, KeyError):
            return []
        return [CompletionItem(key) for key in keys if key.startswith(incomplete)]

    return complete
