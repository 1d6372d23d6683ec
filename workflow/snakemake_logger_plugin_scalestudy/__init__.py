"""`snakemake --logger scalestudy`: one live screen of a study instead of a log. Snakemake finds it by its name.

Every call of Snakemake imports this module, so the screen itself is imported where it is used.
"""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Settings of `--logger scalestudy`. Snakemake reads the types of the fields, so they are no strings."""

    results: Optional[Path] = field(  # noqa: UP045
        default=None, metadata={"help": "Results folder of the study.", "env_var": False, "required": False}
    )
    summary: bool = field(
        default=False,
        metadata={"help": "Print verdicts and files at the end.", "env_var": False, "required": False},
    )


class LogHandler(LogHandlerBase):
    """Hands the events of Snakemake to the screen of a study (scalestudy/cli/screen)."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        from scalestudy.cli.screen.view import StudyScreen

        results = getattr(self.settings, "results", None)
        if results is None:
            raise WorkflowError("--logger scalestudy needs --logger-scalestudy-results results/STUDY")
        self.screen = StudyScreen(Path(results), summary=bool(getattr(self.settings, "summary", False)))

    def emit(self, record: logging.LogRecord) -> None:
        """Show an event. A screen that fails says so once, and the study goes on."""
        try:
            self.screen.take(record)
        except Exception as error:
            self.screen.fail(error)

    def close(self) -> None:
        """Leave the terminal as it was, and print what was found. Snakemake may call this twice."""
        self.screen.close()
        super().close()
