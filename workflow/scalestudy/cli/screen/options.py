"""When a study is shown on the screen, and the options of Snakemake for it."""

import os
from collections.abc import Iterable
from pathlib import Path

CHOOSING = {
    *("--cores", "-c", "--jobs", "-j", "--until", "-U", "--force", "-f", "--forcerun", "-R", "--keep-going", "-k"),
    *("--rerun-incomplete", "--ri", "--set-resources", "--default-resources", "--latency-wait", "-w", "--nolock"),
}
"""Options of Snakemake that choose what runs and where. With any other option its own log is shown."""


def screen_options(results: Path, arguments: Iterable[str], *, summary: bool) -> list[str]:
    """Return options of Snakemake that show a study on the screen; none with V=1, or if arguments ask for its log.

    summary: print verdicts and files at the end.
    """
    given = {word.partition("=")[0] for word in arguments if word[:1] == "-"}
    if os.environ.get("V", "0") != "0" or not given <= CHOOSING:
        return []
    options = ["--logger", "scalestudy", "--logger-scalestudy-results", str(results)]
    return options + ["--logger-scalestudy-summary"] * summary
