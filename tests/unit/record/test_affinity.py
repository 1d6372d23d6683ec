"""Where ranks on GPUs are bound: near their GPU, by physical cores, each to its own."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pynvml
import pytest
from machines import CUDA, Machine, machine
from nvml import Board, FakeNvml
from scalestudy.record.host.affinity import Far, Portions
from scalestudy.record.host.nvml import cpu_affinity, nvml_session, visible_gpus
from scalestudy.record.host.portions import PORTIONS, portions_here, present_gpus, read_facts, tell, told
from scalestudy.study.config.conditions import Host


@pytest.fixture
def dgx(tmp_path: Path) -> Machine:
    """2 x 56 cores with two threads each and 8 GPUs on a switch, four on each socket."""
    return machine(tmp_path, sockets=2, cores=56, gpus=[0] * 4 + [1] * 4, nvlinks=[None] * 18)


@pytest.fixture
def single_socket(tmp_path: Path) -> Machine:
    """1 x 64 cores and 4 GPUs without NVLink."""
    return machine(tmp_path, sockets=1, cores=64, gpus=[0] * 4)


def apart(machine: Machine, placed: Portions) -> bool:
    """Whether no two ranks share a physical core."""
    cores = [{cpu % machine.cores for cpu in cpus} for cpus in placed.cpus]
    return not any(one & other for one, other in combinations(cores, 2))


def test_each_of_eight_ranks_has_eight_cores_of_its_gpu_s_socket(dgx: Machine) -> None:
    placed = dgx.placed(8)
    assert placed.cores_per_rank == 8
    assert [dgx.sockets_of(cpus) for cpus in placed.cpus] == [{0}] * 4 + [{1}] * 4
    assert [dgx.physical(cpus) for cpus in placed.cpus] == [8] * 8, "one thread of each core"
    assert placed.cpus[0] == tuple(range(8))
    assert placed.cpus[4] == tuple(range(56, 64))
    assert apart(dgx, placed)
    assert placed.far == ()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_fewer_ranks_are_bound_as_the_first_of_eight(dgx: Machine, ranks: int) -> None:
    assert dgx.placed(ranks).cpus == dgx.placed(8).cpus[:ranks]


def test_one_socket_with_four_gpus_and_no_nvlink(single_socket: Machine) -> None:
    placed = single_socket.placed(4)
    assert placed.cpus == tuple(tuple(range(8 * rank, 8 * rank + 8)) for rank in range(4))
    assert placed.far == ()


def test_gpus_in_another_order_take_their_sockets_with_them(dgx: Machine) -> None:
    placed = dgx.placed(2, visible="5,0")
    assert [dgx.sockets_of(cpus) for cpus in placed.cpus] == [{1}, {0}]
    assert placed.cpus == dgx.placed(8).cpus[5::-5]


def test_somebody_else_on_another_gpu_has_other_cores(dgx: Machine) -> None:
    """Two users of a workstation share its GPUs by CUDA_VISIBLE_DEVICES, and nothing divides the CPUs."""
    one, other = dgx.placed(2, visible="0,1"), dgx.placed(2, visible="2,GPU-3")
    assert one.cpus + other.cpus == dgx.placed(4).cpus


def test_more_ranks_than_gpus_share_the_cores_out(dgx: Machine) -> None:
    """An acceptance on one GPU has two ranks on it, over gloo."""
    placed = dgx.placed(2, visible="0", usable=range(8))
    assert placed == Portions(4, ((0, 1, 2, 3), (4, 5, 6, 7)))


def test_a_rank_on_an_instance_of_mig_is_near_the_board(tmp_path: Path) -> None:
    """The driver reports the affinity of the board, and not of its instances."""
    there = machine(tmp_path, sockets=2, cores=8, gpus=[0, 1], instances=["MIG-a", "MIG-b"])
    boards = (there.boards[0], Board("GPU-1", cpus=there.socket(1), instances=["MIG-c", "MIG-d"]))
    there = Machine(there.root, 2, 8, boards)
    with nvml_session(nvml := there.nvml):
        (instance,) = visible_gpus({"CUDA_VISIBLE_DEVICES": "MIG-d"}, nvml)
        with pytest.raises(pynvml.NVMLError, match="Not Supported"):
            nvml.nvmlDeviceGetCpuAffinity(instance.handle, 1)
        assert cpu_affinity(instance, 32, nvml) == there.socket(1)
    placed = there.placed(1, visible="MIG-d")
    assert placed.cpus == (there.socket(1)[:8],)


def test_all_words_of_a_mask_are_asked_for(dgx: Machine) -> None:
    """224 CPUs are four words; with one, socket 1 would have none."""
    assert dgx.facts().near[7] == dgx.socket(1)
    assert max(dgx.socket(1)) > 192


@pytest.mark.parametrize(
    ("sockets", "cores", "gpus", "count"),
    [
        (2, 56, [0, 0, 0, 0, 1, 1, 1, 1], 8),
        (1, 64, [0, 0, 0, 0], 8),
        (2, 16, [0, 0, 0, 0, 1, 1, 1, 1], 4),
        (1, 12, [0, 0, 0, 0], 3),
        (2, 56, [0] * 8, 7),  # all on one socket: 14 for each GPU, of which 7 are near
        (2, 56, [None] * 8, 8),
    ],
)
def test_cores_where_a_study_names_none(
    tmp_path: Path, sockets: int, cores: int, gpus: list[int | None], count: int
) -> None:
    there = machine(tmp_path, sockets=sockets, cores=cores, gpus=gpus)
    placed = there.placed(len(gpus))
    assert placed.cores_per_rank == count
    assert apart(there, placed)
    assert {len(cpus) for cpus in placed.cpus} == {count}


def test_fewer_than_four_cores_near_a_gpu_are_filled_up_from_the_other_socket(tmp_path: Path) -> None:
    there = machine(tmp_path, sockets=2, cores=28, gpus=[0] * 8)
    placed = there.placed(8)
    assert placed.cores_per_rank == 7
    assert {there.physical(cpus) for cpus in placed.cpus} == {7}
    assert len(placed.far) == 8, "3.5 cores of socket 0 for each"
    assert {len([cpu for cpu in cpus if cpu % 56 < 28]) for cpus in placed.cpus} == {3, 4}, "evenly"
    assert apart(there, placed)


def test_fewer_cores_than_gpus(tmp_path: Path) -> None:
    there = machine(tmp_path, sockets=1, cores=2, gpus=[0] * 4)
    assert there.placed(4).cpus == ((0,), (1,), (2,), (3,)), "two threads of a core; the launcher warns of it"


def test_one_process_of_a_job_gets_what_each_of_n_ranks_gets(tmp_path: Path) -> None:
    """2 x 16 cores and 8 GPUs, so 4 for each, however the job of the baseline is cut out."""
    there = machine(tmp_path, sockets=2, cores=16, gpus=[0] * 4 + [1] * 4)
    every = there.placed(8)
    assert every.cores_per_rank == 4
    assert there.placed(1).cpus == every.cpus[:1]
    one_gpu_and_all_cores = there.placed(1, visible="0")
    assert one_gpu_and_all_cores.cpus == every.cpus[:1]
    hidden = Machine(there.root, 2, 16, there.boards[:1])  # a container: NVML sees one, the PCI bus all
    assert hidden.placed(1).cores_per_rank == 4
    share = there.placed(1, visible="0", usable=[*range(4), *range(32, 36)])
    assert share.cpus == (tuple(range(4)),)


def test_a_job_with_fewer_cores_gives_each_gpu_its_share(dgx: Machine) -> None:
    """SLURM counts hardware threads: 8 of them for each GPU are four physical cores."""
    threads = [*range(4), *range(112, 116), *range(56, 60), *range(168, 172)]
    placed = dgx.placed(2, visible="0,4", usable=threads)
    assert placed.cpus == (tuple(range(4)), tuple(range(56, 60)))


def test_a_quota_of_a_container_is_a_bound(dgx: Machine) -> None:
    assert dgx.placed(2, visible="0,1", quota=9.5).cores_per_rank == 4


def test_as_many_cores_as_a_study_names(dgx: Machine) -> None:
    assert dgx.placed(8, cores_per_rank=1).cpus[4:] == tuple((56 + number,) for number in range(4))
    both_threads = dgx.placed(8, cores_per_rank=20)
    assert [dgx.physical(cpus) for cpus in both_threads.cpus] == [10] * 8, "alike for all ranks"
    assert [dgx.sockets_of(cpus) for cpus in both_threads.cpus] == [{0}] * 4 + [{1}] * 4
    assert apart(dgx, both_threads)
    wide = dgx.placed(1, cores_per_rank=56)
    assert wide.cpus == (tuple(range(56)),), "more than eight ranks could have"
    assert wide.far == ()


def test_a_socket_with_too_few_cores_is_told_of(dgx: Machine) -> None:
    """The job has all of socket 0 and two cores of socket 1; rank 1 is on a GPU of socket 1."""
    placed = dgx.placed(2, visible="0,4", usable=[*range(56), 56, 57], cores_per_rank=8)
    assert {len(cpus) for cpus in placed.cpus} == {8}
    assert {56, 57} <= set(placed.cpus[1]), "the cores of its own socket"
    assert placed.far == (Far(1, "0, 1", "1"),)
    assert apart(dgx, placed)
    none = dgx.placed(1, visible="4", usable=range(56))
    assert none.far == (Far(0, "0", "1"),)
    assert none.cores_per_rank == 8


def test_half_a_socket_as_a_numa_node(tmp_path: Path) -> None:
    """Two NUMA nodes a socket (NPS2): the node of the GPU first, its socket before another one."""
    there = machine(tmp_path, sockets=2, cores=16, threads=1, gpus=[0, 1])
    half = tuple(Board(f"GPU-{n}", cpus=range(16 * n + 8, 16 * n + 16)) for n in range(2))
    there = Machine(there.root, 2, 16, half, 1)
    assert there.placed(2).cpus == (tuple(range(8, 16)), tuple(range(24, 32)))
    assert there.placed(2, cores_per_rank=12).cpus == (tuple(range(12)), tuple(range(16, 28)))
    assert there.placed(2, cores_per_rank=12).far == ()


def test_without_an_affinity_ranks_take_physical_cores_in_order(tmp_path: Path) -> None:
    there = machine(tmp_path, sockets=2, cores=8, gpus=[None, None])
    placed = there.placed(2)
    assert placed.cpus == (tuple(range(8)), tuple(range(8, 16)))
    assert placed.far == ()


def test_too_few_cpus_leave_ranks_short_and_never_share(single_socket: Machine) -> None:
    assert single_socket.placed(2, usable=range(3), cores_per_rank=2).cpus == ((0, 1), (2,))


def test_where_nvml_is_down_the_kernel_counts_the_gpus(dgx: Machine) -> None:
    broken = FakeNvml(failing=pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
    places: dict[str, Any] = {"usable": dgx.cpus, "system": dgx.root / "system", "pci": dgx.root / "pci"}
    assert present_gpus(dgx.root / "pci") == 8, "the switch is none"
    facts = read_facts(CUDA, {}, broken, **places)
    assert (facts.near, facts.gpus) == ((), 8)
    assert portions_here(CUDA, 1, {}, broken, **places).cores_per_rank == 8
    assert portions_here(Host(), 1, {}, broken, **places).cores_per_rank == 1, "auto: it may be the CPU"


def test_on_a_cpu_ranks_take_portions_of_one_core(dgx: Machine) -> None:
    places: dict[str, Any] = {"usable": dgx.cpus, "system": dgx.root / "system", "pci": dgx.root / "pci"}
    asked = FakeNvml(*dgx.boards)
    placed = portions_here(Host.model_validate({"device": "cpu"}), 3, {}, asked, **places)
    assert placed == Portions(1, ((0,), (1,), (2,)))
    hidden = portions_here(Host(), 2, {"CUDA_VISIBLE_DEVICES": ""}, asked, **places)
    assert hidden == Portions(1, ((0,), (1,)))
    shared = portions_here(Host.model_validate({"pin": False, "cores_per_rank": 3}), 2, {}, asked, **places)
    assert shared == Portions(3, (tuple(dgx.cpus),) * 2)


def test_ranks_are_told_what_was_decided(dgx: Machine) -> None:
    placed = dgx.placed(2, visible="0,4", usable=[*range(56), 56], cores_per_rank=8)
    assert told(tell(placed)) == placed
    assert told({}) is None
    assert set(tell(placed)) == {PORTIONS}
