"""Processes that the kernel killed for memory are counted where it counts them."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.record.host.cgroup import oom_kills

CGROUP_2 = "low 0\nhigh 0\nmax 12\noom 2\noom_kill 3\noom_group_kill 0\n"
CGROUP_1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n"


@pytest.mark.parametrize(
    ("membership", "file", "content", "found"),
    [
        ("0::/job\n", "job/memory.events", CGROUP_2, 3),
        ("9:memory:/job\n", "memory/job/memory.oom_control", CGROUP_1, 4),
        ("0::/\n", "other", "", 7),
    ],
)
def test_the_counter_nearest_to_the_process_is_read(
    tmp_path: Path, membership: str, file: str, content: str, found: int
) -> None:
    mount, of, system = tmp_path / "mount", tmp_path / "cgroup", tmp_path / "vmstat"
    (mount / file).parent.mkdir(parents=True)
    (mount / file).write_text(content)
    of.write_text(membership)
    system.write_text("nr_free_pages 100\noom_kill 7\n")
    assert oom_kills(mount, of, system) == found


def test_it_is_not_known_where_nobody_counts(tmp_path: Path) -> None:
    assert oom_kills(tmp_path, tmp_path / "none", tmp_path / "nothing") is None
