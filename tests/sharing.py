"""How tests are shared out among processes: a file at a time, but for those whose tests have nothing in common."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Few, long tests: a process that had a whole file of them would still be at it when the others have ended.
ONE_BY_ONE = {
    "test_dry_runs.py",
    "test_killed.py",
    "test_outcomes.py",
    "test_reruns.py",
    "test_slurm_faults.py",
    "test_slurm_queues.py",
    "test_slurm_submissions.py",
    "test_studies.py",
}


class Sharing(LoadScopeScheduling):
    """Sends the tests of a file to one process, which makes what they share once; those of ONE_BY_ONE to any."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return nodeid if PurePath(file).name in ONE_BY_ONE else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Sharing:
    """Asked for by --dist loadscope."""
    return Sharing(config, log)
