"""The command line: `scalestudy VERB`, and `scalestudy stage STAGE`, which the workflow's rules call."""

import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import click

from scalestudy import __version__
from scalestudy.chain.callers import end_with_callers
from scalestudy.cli.command import LazyGroup
from scalestudy.cli.readers import leave, readers_may_leave
from scalestudy.publish.visible import visible_output
from scalestudy.record.files import failed, unwritable

COMPLETE = "_SCALESTUDY_COMPLETE"
WRONG_USE, BROKEN = 2, 70
"""Exit statuses. BROKEN is EX_SOFTWARE of sysexits.h, because Python's own status, 1, means here that something
was found."""
STATUSES = {
    "0": "success",
    "1": "done, with a finding: failed runs, a red check, a worse quantity",
    "2": "not done: wrong usage, or a file that cannot be read or written",
    "3": "cannot tell: more runs or a quiet host are needed (guard, compare --fail-if, accept, forecast)",
    "70": "internal error of scalestudy; please report it",
    "130": "interrupted; completed measurements are kept",
}
# Command -> the module of its function.
VERBS = {
    "new": "new",
    "plan": "run",
    "run": "run",
    "summary": "results",
    "number": "results",
    "verify": "verify",
    "tune": "tune",
    "compare": "compare",
    "guard": "guard",
    "estimate": "without_runs",
    "audit": "without_runs",
    "forecast": "forecast",
    "import": "import_logs",
    "export": "deposit",
    "deposit": "deposit",
    "report": "deposit",
    "find-batch": "find_batch",
    "demo": "demo",
    "accept": "accept",
    "retry": "run",
}
STAGES = {  # in the order in which the workflow runs them
    **dict.fromkeys(("plan", "prepare"), "before"),
    "train": "launch",
    **dict.fromkeys(("decide", "aggregate", "diagnose"), "analyse"),
    **dict.fromkeys(("plot", "numbers", "tables", "text", "page", "documents", "typeset"), "publish"),
    "settle": "launch",
    "schema": "before",
}
_FUNCTIONS = {"import": "import_logs"}
"""Verbs whose names are words of Python."""
_VERBS = {
    name: f"scalestudy.cli.verb.{module}:{_FUNCTIONS.get(name, name.replace('-', '_'))}"
    for name, module in VERBS.items()
}
_STAGES = {name: f"scalestudy.cli.stage.{module}:{name}" for name, module in STAGES.items()}

stage = LazyGroup(
    commands=_STAGES,
    elsewhere={name: f"scalestudy {name}" for name in VERBS},
    short_help="Run one stage of a study by hand.",
    help="Run one stage of a study, as a rule of the workflow does.",
)
program = LazyGroup(
    name="scalestudy",
    commands=_VERBS | {"stage": f"{__name__}:stage"},
    hidden={"train": _STAGES["train"]},  # Snakemake recognises finished runs by this shell line
    elsewhere={name: f"scalestudy stage {name}" for name in STAGES},
    help="Measure how PyTorch training scales: plan a study, run it and read the results.",
    epilog="\b\nExit status:\n" + "\n".join(f"  {status:4} {meaning}" for status, meaning in STATUSES.items()),
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
click.version_option(__version__, message="%(prog)s %(version)s")(program)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status, one of STATUSES (docs/command-line.md)."""
    for stream in (sys.stdout, sys.stderr):  # a terminal may lack a character that we print
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end_with_callers(signal.SIGTERM)
    with readers_may_leave(), visible_output():
        return _run(argv)


def _run(argv: list[str] | None) -> int:
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, "scalestudy", COMPLETE, instruction)
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        with program.make_context("scalestudy", words) as context:
            status: int = program.invoke(context)
        if sys.stdout:  # None if it was closed before we started
            sys.stdout.flush()
        return status
    except click.exceptions.Exit as end:  # --help and --version
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        _complain(error.format_message())
        return WRONG_USE
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "scalestudy"
        return _refused(where, error.format_message())
    except OSError as error:
        if error.filename is None and _has_no_folder():
            return _refused("scalestudy", "the current folder was removed; change to one that exists")
        of_output = error.filename is None and _output_fails()
        return _refused("scalestudy", str(unwritable(error, "the output")) if of_output else failed(error))
    except UnicodeEncodeError as error:
        return _refused("scalestudy", _no_text(words, error))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except MemoryError:
        return _refused("scalestudy", "not enough memory; raise the limit (ulimit -v, or that of the job)")
    except Exception:
        traceback.print_exc()
        _complain("scalestudy: internal error of scalestudy; please report it with the lines above")
        return BROKEN


def _refused(where: str, said: str) -> int:
    _complain(f"{where}: {said}")
    return WRONG_USE


def _complain(line: str) -> None:
    """Print a line to stderr, if possible: stderr may be a log on a full disk."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        leave(sys.stderr)


def _has_no_folder() -> bool:
    """Whether the current folder was removed."""
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def _output_fails() -> bool:
    """Whether stdout still cannot take what was printed. It is then left, and the failed text is lost."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        leave(sys.stdout)
        return True
    return False


def _no_text(words: Sequence[str], error: UnicodeEncodeError) -> str:
    """Return an error message that quotes the word of the command line that is not UTF-8."""
    wrong = [word for word in words if any("\ud800" <= letter <= "\udfff" for letter in word)]
    said = (wrong or [error.object[max(0, error.start - 20) : error.end]])[0]
    return f"{said!r}: not valid UTF-8"
