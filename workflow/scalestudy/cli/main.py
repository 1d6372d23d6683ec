"""The command line: `scalestudy VERB`. A verb loads when it is called, so that none pays for another's imports."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from scalestudy import __version__
from scalestudy.errors import UserError

# In the order of the chain. Each module has HELP, add_arguments(parser) and run(arguments) -> exit status.
VERBS = (
    "new",
    "plan",
    "prepare",
    "train",
    "aggregate",
    "diagnose",
    "plot",
    "tables",
    "text",
    "page",
    "documents",
    "typeset",
    "numbers",
    "number",
    "summary",
    "compare",
    "find-batch",
    "estimate",
    "audit",
    "demo",
    "retry",
    "settle",
    "schema",
)


def main(argv: list[str] | None = None) -> int:
    """Run one verb; 0 when it did its work, 1 when a study holds failed runs, 2 for a user's mistake."""
    argv = sys.argv[1:] if argv is None else argv
    arguments = _parser(argv).parse_args(argv)
    try:
        return arguments.run(arguments)
    except BrokenPipeError:  # `| head` has seen enough; without this Python complains when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UserError as error:
        print(f"scalestudy {arguments.verb}: {error}", file=sys.stderr)
        return 2


def _parser(argv: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scalestudy",
        description="A scaling study of PyTorch training, stage by stage. Each Snakemake rule runs one of these.",
    )
    parser.add_argument("--version", action="version", version=f"scalestudy {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    called = next((word for word in argv if not word.startswith("-")), None)
    for verb in VERBS:
        if called in VERBS and verb != called:
            continue  # its imports are not needed
        module = importlib.import_module(f"scalestudy.cli.{verb.replace('-', '_')}")
        child = verbs.add_parser(verb, help=module.HELP, description=module.__doc__)
        module.add_arguments(child)
        child.set_defaults(run=module.run)
    return parser
