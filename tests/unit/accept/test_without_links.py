"""nccl-tests compared with the probe, and a run without links: tables from public issues, simulated runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import observation
from nvml import FakeNvml, switched
from scalestudy.accept.links import transport_check
from scalestudy.accept.nccl_tests import bus_bandwidths, command, find_program, largest_message, nccl_tests_check
from scalestudy.accept.studies import NO_LINKS, Launches
from scalestudy.cli import acceptance as accepting
from scalestudy.cli.acceptance import Acceptance
from scalestudy.record.host.environment import hardware_facts
from scalestudy.record.tables import Observation

NEW = """\
# nccl-tests version 2.20.0 (b4d5bee) nccl-headers=23102 nccl-library=23102
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 268435456 maxBytes 268435456 step: 1048576(bytes) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid 1666603 on frodo device  0 [0000:01:00] NVIDIA H100 80GB HBM3
#
frodo:1666603:1666610 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong    time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
frodo:1666603:1666610 [0] NCCL INFO comm 0x55cd1a0bf930 rank 0 nranks 2 cudaDev 0 busId 1000 - Destroy COMPLETE
   268435456      67108864     float     sum      -1    897.2  299.19  299.19      0   889.5  301.78  301.78      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 300.485
#
# Collective test concluded: all_reduce_perf
"""
# NVIDIA/nccl-tests#107 and #44: no root, no operation.
WITHOUT_ROOT = """\
#                                                       out-of-place                       in-place
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
    67108864      16777216     float     sum   1568.3   42.79   21.40  0e+00   1560.9   42.99   21.50  0e+00
   134217728      33554432     float     sum   3298.6   40.69   20.34  0e+00   3070.3   43.71   21.86  0e+00
# Out of bounds values : 0 OK
"""
WITHOUT_OPERATION = """\
#                                             out-of-place                    in-place
#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
    67108864       8388608   float   1568.3   21.40   21.40  0e+00   1560.9   21.50   21.50  0e+00
"""
# 2.4 (2019).
OLDEST = """\
#                                           out-of-place                    in-place
#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res
     1048576        262144   float     sum    2.059   0.51   0.51      N/A    3.314   0.32   0.33      N/A
"""
TABLES = {
    "2.17 and later": (NEW, {268435456: 301.78}),
    "without a root": (WITHOUT_ROOT, {67108864: 21.5, 134217728: 21.86}),
    "without an operation": (WITHOUT_OPERATION, {67108864: 21.5}),
    "2019": (OLDEST, {1048576: 0.33}),
    "no table": ("all_reduce_perf: error while loading shared libraries: libnccl.so.2\n", {}),
    "nothing": ("", {}),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_table_of_nccl_tests_is_read(name: str) -> None:
    printed, found = TABLES[name]
    assert bus_bandwidths(printed) == found


def test_the_program_is_looked_for_where_it_is_built(tmp_path: Path) -> None:
    home = {"NCCL_TESTS_HOME": str(tmp_path)}
    assert find_program(home, lambda _: None) is None
    assert find_program(home, lambda name: f"/usr/bin/{name}") == "/usr/bin/all_reduce_perf"
    built = tmp_path / "build" / "all_reduce_perf"
    built.parent.mkdir()
    built.touch()
    assert find_program(home, lambda _: None) == str(built)
    assert command("p", 1024, 2) == ["p", "-b", "1024", "-e", "1024", "-g", "2", "-w", "5", "-n", "20"]


PLAN = Launches("cuda", 2).without_links()


def launched(transport: str | None = "NET/Socket", gb_per_s: float = 2.0, **given: Any) -> list[Observation]:
    """The runs of PLAN on two of eight GPUs with NVLink, whose all-reduces have this bus bandwidth."""
    place = {"backend": "nccl", "device": "NVIDIA H100 80GB HBM3", "device_type": "cuda", "warnings": []}
    place |= {"hardware": hardware_facts({}, FakeNvml(*switched()))}
    place |= {"nccl_transport": transport} if transport else {}
    sizes = [4 * 2**10, 4 * 2**20, 256 * 2**20]
    calls = [
        {
            "rank": rank,
            "collective": "all-reduce",
            "bytes": size,
            "call": call,
            "time_s": 2e-5 + size / gb_per_s / 1e9,
        }
        for size in sizes
        for call in range(5)
        for rank in range(2)
    ]
    frame = pd.DataFrame(calls).assign(enqueue_s=1e-5)
    found = []
    for spec in PLAN.runs.values():
        alone = spec.world_size == 1
        slow_s = 0.001 if alone else 0.001 + 4.4e6 / gb_per_s / 1e9
        tables = {} if alone else {"collectives": frame}
        made = observation(
            spec, [[slow_s] * 60] * spec.world_size, environment=place, tables_given=tables, **given
        )
        made.record.totals.__dict__["gradient_bytes"] = None if alone else 4_400_000
        found.append(made)
    return found


def test_the_plan_forbids_both_ways_in_all_its_launches() -> None:
    assert all(NO_LINKS.items() <= spec.host.environment.items() for spec in PLAN.runs.values())
    assert sorted(spec.world_size for spec in PLAN.runs.values()) == [1, 2]


def test_a_launch_over_sockets_is_transport() -> None:
    found = transport_check(PLAN, launched())
    assert (found.word, found.found) == ("green", "transport; NCCL used NET/Socket; 1.86 GiB/s")
    assert transport_check(PLAN, launched(transport=None)).word == "green", "the bandwidth tells it as well"


def test_a_launch_that_is_fast_or_failed_is_red() -> None:
    fast = transport_check(PLAN, launched(transport="P2P", gb_per_s=300.0))
    assert fast.word == "red"
    assert "NCCL used P2P" in fast.found
    assert transport_check(PLAN, launched(outcome="failed")).found == "failed: a reason"


def test_nccl_tests_stands_beside_the_probe() -> None:
    probed = launched(gb_per_s=300.0)[-1]
    if probed.record.spec.world_size == 1:
        probed = launched(gb_per_s=300.0)[0]
    size, gb_per_s = largest_message(probed)
    assert (size, gb_per_s) == (268435456, pytest.approx(293, abs=1))
    same = nccl_tests_check(probed, 0, NEW)
    assert same.word == "green"
    assert same.found.startswith("293 GB/s by the probe, 302 GB/s by nccl-tests at 268435456 bytes (-2.8 %)")
    assert nccl_tests_check(probed, 0, NEW.replace("301.78  301.78", "99.00   99.00")).word == "red"
    failed = nccl_tests_check(probed, 2, "libnccl.so.2: cannot open shared object file\n")
    assert failed.word == "unproven"
    assert "exit code 2: libnccl.so.2" in failed.found


def test_nccl_tests_is_run_at_the_largest_message_of_the_probe(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The program is a script that notes its arguments and prints the table: there is no GPU for the real one."""
    probed = max(launched(gb_per_s=300.0), key=lambda one: one.record.spec.world_size)
    monkeypatch.setenv("NCCL_TESTS_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    acceptance = Acceptance("cuda", 2, tmp_path)
    absent = acceptance.nccl_tests(probed)
    assert (absent.word, absent.found) == ("unproven", "all_reduce_perf is neither in NCCL_TESTS_HOME nor on PATH")
    (tmp_path / "table").write_text(NEW)
    program = tmp_path / "all_reduce_perf"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\ncat {tmp_path}/table\n')
    program.chmod(0o755)
    monkeypatch.setattr(accepting, "marks_of_load", lambda _: "")  # whatever else this host does
    assert acceptance.nccl_tests(probed).word == "green"
    assert (tmp_path / "arguments").read_text() == "-b 268435456 -e 268435456 -g 2 -w 5 -n 20\n"
    program.write_text("#!/bin/sh\necho no CUDA-capable device is detected >&2\nexit 3\n")
    failed = acceptance.nccl_tests(probed)
    assert failed.word == "unproven"
    assert "exit code 3: no CUDA-capable device is detected" in failed.found
