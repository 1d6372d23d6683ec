"""A list of hosts without a scheduler."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.launch.nodes.hosts import HOSTS, parse_hosts, remote_line
from scalestudy.launch.starters import make_starter


def test_hosts_are_listed_with_commas_or_spaces() -> None:
    assert parse_hosts("a, b  c") == ("a", "b", "c")
    with pytest.raises(UserError, match="list each host once"):
        parse_hosts("a,a")


def test_a_list_of_hosts_is_preferred_to_this_host() -> None:
    assert make_starter({HOSTS: "a,b"}).nodes == 2
    assert not make_starter({}).remote
    assert not make_starter({HOSTS: " "}).remote


def test_what_a_host_is_told_survives_its_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    strange = tmp_path / "a 'b' $c"
    strange.mkdir()
    monkeypatch.chdir(strange)
    monkeypatch.setenv("PYTHONPATH", "/x y")
    line = remote_line(["printf", "%s|"], 1, "b")
    said = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout
    assert said == "--index=1|--name=b|--end-with-stdin|"
    there = subprocess.run(
        ["bash", "-c", f"{line.split(' && ')[0]} && pwd"], capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == str(strange)
