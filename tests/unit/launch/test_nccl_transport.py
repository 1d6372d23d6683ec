"""Over what NCCL sends, by lines of its log. The lines are of public issues, with other names and addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import handlers_kept
from launches import spec_of
from scalestudy.launch.nccl_log import facts_of_nccl, nccl_transport, read_nccl_logs
from scalestudy.launch.run import measure_run
from scalestudy.study.limits import Limits
from scalestudy.study.spec import WORKER
from scalestudy.train.place.nccl_log import OF_ITS_LOG, log_transports
from scalestudy.train.place.placement import Placement
from torch import device

LOGS = {
    # NVIDIA/nccl#1538, NCCL 2.22.
    "peer to peer by CUDA's virtual memory": (
        "frodo-worker-0:5666:5808 [3] NCCL INFO Channel 07/0 : 3[3] -> 4[4] via P2P/CUMEM\n"
        "frodo-worker-0:5669:5807 [6] NCCL INFO Channel 09/0 : 6[6] -> 7[7] via P2P/CUMEM\n",
        "P2P",
    ),
    # NVIDIA/nccl#1161 and #629, NCCL 2.10 to 2.19: addresses on the bus in the brackets.
    "peer to peer by pointers": (
        "frodo:9:9 [1] NCCL INFO Channel 00/0 : 1[21000] -> 0[1000] via P2P/direct pointer\n"
        "frodo:104934:104992 [7] NCCL INFO Channel 07 : 7[e7000] -> 6[e1000] via P2P/direct pointer/read\n",
        "P2P",
    ),
    # NVIDIA/Megatron-LM#516.
    "peer to peer by IPC": (
        "frodo:6253:6644 [2] NCCL INFO Channel 23/0 : 2[201c0] -> 3[201d0] via P2P/IPC/read\n",
        "P2P",
    ),
    # NVIDIA/nccl-tests#166: inside the nodes host memory, between them sockets.
    "host memory": ("sam:39964:40050 [6] NCCL INFO Channel 09 : 6[6] -> 7[7] via SHM/direct/direct\n", "SHM"),
    "sockets beside host memory": (
        "sam:9621:9692 [7] NCCL INFO Channel 14/0 : 15[7] -> 0[0] [send] via NET/Socket/0\n"
        "sam:39964:40050 [6] NCCL INFO Channel 09 : 6[6] -> 7[7] via SHM/direct/direct\n",
        "NET/Socket",
    ),
    # NCCL up to 2.9 (src/transport/shm.cc).
    "host memory in old words": (
        "frodo:51:97 [0] NCCL INFO Ring 00 : 0[2000] -> 1[3000] via direct shared memory\n",
        "SHM",
    ),
    # NVIDIA/nccl#1189 and #1814: adapters, with and without a plugin.
    "InfiniBand": (
        "rosie:4015539:4015652 [0] NCCL INFO Channel 07/0 : 0[0] -> 2[0] [receive] via NET/IB/3/GDRDMA\n"
        "rosie:1789225:1789736 [1] NCCL INFO Channel 01/0 : 1[1] -> 0[0] via P2P/CUMEM\n",
        "NET/IB",
    ),
    "a plugin": (
        "rosie:981:1267 [1] NCCL INFO Channel 09/0 : 33[1] -> 41[1] [send] via NET/IBext_v8/4\n",
        "NET/IBext_v8",
    ),
    "a plugin with a space, through another rank": (
        "rosie:9:9 [1] NCCL INFO Channel 09/0 : 3[1] -> 4[1] [send] via NET/AWS Libfabric/1(2)/GDRDMA/Shared\n",
        "NET/AWS Libfabric",
    ),
    # NCCL 2.27 and later may put a time in front.
    "with a time": (
        "[2026-05-05 06:16:47] frodo:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n",
        "SHM",
    ),
    # What names a network that no channel needs to take.
    "networks that are there": (
        "frodo:20:20 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>\n"
        "frodo:20:20 [0] NCCL INFO Using network Socket\n"
        "frodo:20:20 [0] NCCL INFO P2P Chunksize set to 131072\n",
        None,
    ),
    "warnings only": ("frodo:1:1 [0] init.cc:573 NCCL WARN Duplicate GPU detected : rank 1 and rank 0\n", None),
    "a line cut short by another": ("frodo:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] frodo:1:2 [1]", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_slowest_transport_is_read(name: str) -> None:
    log, transport = LOGS[name]
    assert nccl_transport(log) == transport


def place(backend: str = "nccl", ranks: int = 2) -> Placement:
    return Placement(
        rank=0,
        world_size=ranks,
        node="n",
        local_rank=0,
        local_world_size=ranks,
        cores=(0,),
        threads=1,
        device=device("cpu"),
        backend=backend,
        choice="",
    )


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home without a file of NCCL's."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


def test_nccl_is_asked_for_its_transports_in_files_of_the_launch(home: Path, tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    log_transports(place(), tmp_path / "100%", environment)
    folder = str(tmp_path / "100%%")  # a % that NCCL is to leave alone is doubled
    assert environment == {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_FILE": f"{folder}/nccl-%h-%p.log",
        "NCCL_DEBUG_SUBSYS": "P2P,SHM,NET",
    }


@pytest.mark.parametrize("name", OF_ITS_LOG)
def test_what_the_user_has_set_of_the_log_stays(name: str, home: Path, tmp_path: Path) -> None:
    environment = {name: "WARN"}
    log_transports(place(), tmp_path, environment)
    assert environment == {name: "WARN"}


def test_what_the_user_has_set_in_a_file_stays(home: Path, tmp_path: Path) -> None:
    (tmp_path / "conf").write_text("NCCL_DEBUG=WARN\n")
    environment = {"NCCL_CONF_FILE": str(tmp_path / "conf")}
    log_transports(place(), tmp_path, environment)
    assert "NCCL_DEBUG" not in environment
    (home / ".nccl.conf").write_text("NCCL_DEBUG=VERSION\n")
    environment = {}
    log_transports(place(), tmp_path, environment)
    assert environment == {}


@pytest.mark.parametrize(("backend", "ranks"), [("gloo", 2), ("nccl", 1)])
def test_nothing_is_asked_where_nccl_sends_nothing(backend: str, ranks: int, home: Path, tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    log_transports(place(backend, ranks), tmp_path, environment)
    assert environment == {}


def test_files_of_all_ranks_are_read(tmp_path: Path) -> None:
    (tmp_path / "nccl-frodo-1.log").write_text(LOGS["host memory"][0])
    (tmp_path / "nccl-frodo-2.log").write_text(LOGS["InfiniBand"][0])
    assert nccl_transport(read_nccl_logs(tmp_path)) == "NET/IB"
    assert read_nccl_logs(tmp_path / "none") == ""


def test_a_launch_records_the_transport_and_removes_the_files(tmp_path: Path) -> None:
    environment = {WORKER: "nccl_rank", "PYTHONPATH": str(Path(__file__).parents[2])}
    spec = spec_of({"strategy": "ddp"}, host={"device": "cpu", "start": "cold", "environment": environment})
    with handlers_kept():
        record, _ = measure_run(spec, tmp_path, limits=Limits(time_limit_min=2))
    assert record.outcome == "ok"
    assert record.environment["nccl_transport"] == "SHM"
    assert not list((tmp_path / "runs" / record.run_id).glob("nccl-*"))


# NVIDIA/nccl#1053; the line of adapters is of NCCL 2.31.
INTERFACES = {
    "loopback": (
        "frodo:20:20 [0] NCCL INFO NET/IB : No device found.\n"
        "frodo:20:20 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>\n"
        "frodo:20:21 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0\n",
        {"nccl_transport": "NET/Socket", "nccl_interfaces": "lo"},
    ),
    "two interfaces, twice": (
        "sam:9:9 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.2<0> [1]ib0:fe80::2%ib0<0>\n"
        "rosie:9:9 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.3<0> [1]ib0:fe80::3%ib0<0>\n"
        "sam:9:9 [0] NCCL INFO Channel 00 : 0[1e0] -> 1[1e0] [receive] via NET/Socket/0\n",
        {"nccl_transport": "NET/Socket", "nccl_interfaces": "eth0, ib0"},
    ),
    "adapters": (
        "sam:1:257 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB enp71s0:10.0.0.7<0>\n"
        "sam:1:257 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n",
        {"nccl_transport": "NET/IB", "nccl_interfaces": "mlx5_0, mlx5_1"},
    ),
    "no network": (
        "frodo:20:20 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>\n"
        "frodo:20:21 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n",
        {"nccl_transport": "P2P"},
    ),
    "nothing": ("", {}),
}


@pytest.mark.parametrize("name", INTERFACES)
def test_interfaces_are_named_without_addresses_where_a_network_is_used(name: str) -> None:
    log, facts = INTERFACES[name]
    assert facts_of_nccl(log) == facts
