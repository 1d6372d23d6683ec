"""The recipes of images install the same, from the files that the wheel is built from. Neither is built here."""

from __future__ import annotations

import re
import subprocess

from conftest import ROOT
from wheels import FOLDERS, SOURCE

DOCKER = (ROOT / "containers/Dockerfile").read_text(encoding="utf-8")
APPTAINER = (ROOT / "containers/scalestudy.def").read_text(encoding="utf-8")
SCRIPT = ROOT / "containers/install.sh"
COPIED = {*SOURCE, "constraints", "containers"}


def section(name: str) -> list[str]:
    """The lines of a section of the Apptainer recipe, without comments."""
    (text,) = re.findall(rf"^%{name}\n(.*?)(?=^%|\Z)", APPTAINER, flags=re.M | re.S)
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def test_both_copy_what_the_wheel_is_built_from() -> None:
    docker = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), flags=re.M)
    assert set(docker) == COPIED
    files = [line.split() for line in section("files")]
    assert {source for source, _ in files} == COPIED
    assert all(target == f"/tmp/checkout/{source}" for source, target in files)
    assert set(FOLDERS) < COPIED and all((ROOT / name).exists() for name in COPIED)


def test_both_run_the_same_script_with_the_same_torch() -> None:
    call = "sh /tmp/checkout/containers/install.sh /tmp/checkout "
    assert f'RUN {call}"${{TORCH}}" && rm -rf /tmp/checkout' in DOCKER
    assert section("post") == [f'{call}"{{{{ TORCH }}}}"', "rm -rf /tmp/checkout"]
    (default,) = re.findall(r'^ARG TORCH="(.*)"$', DOCKER, flags=re.M)
    assert section("arguments") == [f"TORCH={default}"]
    assert f"TORCH ?= {default}" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert (ROOT / default.removeprefix("-r ")).is_file()


def test_both_start_from_one_base() -> None:
    (docker,) = re.findall(r"^ARG BASE=docker\.io/library/(\S+)$", DOCKER, flags=re.M)
    assert f"Bootstrap: docker\nFrom: {docker}\n" in APPTAINER


def test_the_script_is_valid_and_pins_what_it_installs() -> None:
    assert subprocess.run(["sh", "-n", str(SCRIPT)]).returncode == 0
    calls = re.findall(r"pip install.*", SCRIPT.read_text(encoding="utf-8"))
    assert len(calls) == 2 and all("--constraint constraints/base.txt" in call for call in calls)


def test_the_image_does_not_run_as_root() -> None:
    lines = DOCKER.splitlines()
    assert lines.index("USER scalestudy") < lines.index('ENTRYPOINT ["scalestudy"]')
    assert not [line for line in lines[lines.index("USER scalestudy") + 1 :] if line.startswith("USER")]
