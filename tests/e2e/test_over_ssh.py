"""A run over a list of hosts: two names of this one, reached through an ssh server of the test's own."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Checkout, wait_for
from scalestudy.launch.nodes.hosts import HOSTS, REMOTE_SHELL
from scalestudy.record.observation import RunRecord, read_record
from slurm_studies import ENDLESS, small_study

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
pytestmark = pytest.mark.skipif(
    SSHD is None, reason="no ssh server here; on Debian: apt-get install openssh-server"
)


@pytest.fixture(scope="module")
def remote_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The command that reaches any host, which is this one; its server is stopped afterwards."""
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    Path("/run/sshd").mkdir(exist_ok=True)  # where it puts itself aside until somebody is known
    settings = {
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
        "PermitRootLogin": "yes",
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    server = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", "/dev/null", "-p", str(port), "-h", str(folder / "host"), *options]
    )
    client = {
        "IdentityFile": folder / "user",
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
        "BatchMode": "yes",
        "LogLevel": "ERROR",
        "Port": port,
        "User": getpass.getuser(),
    }
    command = "ssh -F /dev/null " + " ".join(f"-o {key}={value}" for key, value in client.items())
    try:
        wait_for(lambda: subprocess.run([*command.split(), "127.0.0.1", "true"]).returncode == 0, seconds=20)
        yield command
    finally:
        server.terminate()
        server.wait(timeout=10)


def start(checkout: Checkout, monkeypatch: pytest.MonkeyPatch, shell: str, epochs: int) -> subprocess.Popen:
    """The run of two nodes with one rank each, under way."""
    monkeypatch.setenv(HOSTS, "127.0.0.1,localhost")
    monkeypatch.setenv(REMOTE_SHELL, shell)
    checkout.configure(small_study(scales=["2x1"], epochs=epochs, host={"device": "cpu"}))
    return checkout.start("snakemake", "--", "results/small/runs/" + run_of(checkout) + "/run.sha256")


def run_of(checkout: Checkout) -> str:
    return next(name for name, spec in checkout.plan().runs.items() if spec.nodes == 2)


@pytest.mark.slow
def test_one_rank_on_each_of_two_hosts(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, remote_shell: str
) -> None:
    assert start(checkout, monkeypatch, remote_shell, epochs=2).wait(timeout=120) == 0
    record: RunRecord = read_record(checkout.root / "results/small/runs" / run_of(checkout))
    assert record.outcome == "ok", record.reason
    assert [rank.node for rank in sorted(record.ranks, key=lambda rank: rank.rank)] in (
        ["127.0.0.1", "localhost"],
        ["localhost", "127.0.0.1"],
    )
    assert record.environment["interconnect"] == "network between hosts (gloo)"
    for load in record.environment["host_load"]["training"]:
        assert load["own_cores"] > 0, "each node watches its own ranks"
    assert len(record.environment["host_load"]["training"]) == 2


@pytest.mark.slow
def test_ranks_on_other_hosts_end_with_the_launch(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, remote_shell: str
) -> None:
    """A run that is killed sends no message; the hosts detect that it is gone."""
    process = start(checkout, monkeypatch, remote_shell, epochs=ENDLESS)
    partial = checkout.root / "results/small/runs/.partial"
    wait_for(lambda: list(partial.glob("*/progress.json")), seconds=60)
    assert checkout.trainers()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: not checkout.trainers(), seconds=60)
    time.sleep(0.5)
    assert not (checkout.root / "results/small/runs" / run_of(checkout) / "run.json").exists()
