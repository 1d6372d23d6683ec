"""The parts of the training code that decide what is compared: batches, blocks, cores, devices."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from itertools import chain
from math import inf
from typing import ClassVar

import pynvml
import pytest
import torch
from nvml import Board, FakeNvml
from scalestudy.record.host.affinity import Portions
from scalestudy.record.host.portions import tell
from scalestudy.study.config.conditions import Host
from scalestudy.train.data.batches import Share
from scalestudy.train.loop import block_sizes
from scalestudy.train.place import placement
from scalestudy.train.place.placement import PlacementError, choose_device
from scalestudy.train.step.clock import ClockError, CudaClock, make_clock
from scalestudy.train.strategies.base import group_timeout_s

CPU = torch.device("cpu")


def indices(rank: int, world_size: int, *, samples: int = 103, epoch: int = 1, seed: int = 5) -> list[list[int]]:
    found = Share(samples, global_batch=12, rank=rank, world_size=world_size, seed=seed).batches(epoch)
    return [batch.tolist() for batch in found]


@pytest.mark.parametrize("world_size", [2, 3, 4])
def test_ranks_share_the_batches_of_one_process(world_size: int) -> None:
    """Strong scaling trains on the same samples in the same order, whatever the number of ranks."""
    alone = indices(0, 1)
    shares = [indices(rank, world_size) for rank in range(world_size)]
    together = [list(chain(*batch)) for batch in zip(*shares, strict=True)]
    assert together == alone


def test_every_sample_is_seen_at_most_once_an_epoch_and_a_short_batch_is_dropped() -> None:
    batches = indices(0, 1)
    assert [len(batch) for batch in batches] == [12] * 8  # 103 = 8 x 12 + 7
    seen = list(chain(*batches))
    assert len(set(seen)) == len(seen) == 96


def test_epochs_and_seeds_differ() -> None:
    assert indices(0, 1, epoch=1) != indices(0, 1, epoch=2)
    assert indices(0, 1, seed=5) != indices(0, 1, seed=6)
    assert indices(0, 1, samples=12, seed=5)[0] != sorted(indices(0, 1, samples=12, seed=5)[0])


@pytest.mark.parametrize(("steps", "target"), [(44, 20), (5, 20), (1, 1), (100, 20), (7, 3)])
def test_blocks_cover_an_epoch_evenly(steps: int, target: int) -> None:
    sizes = block_sizes(steps, target)
    assert sum(sizes) == steps
    assert max(sizes) <= target
    assert max(sizes) - min(sizes) <= 1


def test_the_clock_gives_the_time_between_marks() -> None:
    clock = make_clock(CPU)
    clock.settle()
    marks = [clock.now()]
    for _ in range(12):
        sum(range(1000))
        marks.append(clock.now())
    times = clock.between(marks)
    assert times.shape == (12,)
    assert (times > 0).all()


class FakeEvent:
    """A CUDA event on a device that takes a millisecond from one to the next."""

    made: ClassVar[int] = 0
    recorded: ClassVar[int] = 0

    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing
        type(self).made += 1

    def record(self) -> None:
        type(self).recorded += 1
        self.at_ms = self.recorded

    def elapsed_time(self, other: FakeEvent) -> float:
        return other.at_ms - self.at_ms


def test_events_of_a_gpu_are_used_again_when_they_have_been_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    clock = CudaClock()
    for _ in range(3):
        marks = [clock.now() for _ in range(5)]
        assert len(set(map(id, marks))) == 5, "no event is recorded twice in a block"
        assert clock.between(marks) == pytest.approx([1e-3] * 4)
    assert (FakeEvent.made, FakeEvent.recorded) == (5, 15)


def test_a_clock_that_goes_backwards_is_refused() -> None:
    with pytest.raises(ClockError, match="went backwards by 5e-09 s"):
        make_clock(CPU).between([10, 20, 15])


@pytest.mark.parametrize(
    ("device", "visible", "ranks", "expected"),
    [
        ("cpu", 8, 4, "cpu"),
        ("auto", 0, 4, "cpu"),
        ("auto", 4, 4, "cuda"),
        ("cuda", 4, 2, "cuda"),
        ("auto", 1, 2, "2 ranks need 2 CUDA devices on this host; 1 visible"),
        ("cuda", 0, 1, "no CUDA device is visible"),
    ],
)
def test_choice_of_device(
    monkeypatch: pytest.MonkeyPatch, device: str, visible: int, ranks: int, expected: str
) -> None:
    """`auto` never mixes: too few GPUs for the ranks is an error, not a run on the CPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: visible > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: visible)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "a GPU")
    host = Host.model_validate({"device": device})
    if expected in ("cpu", "cuda"):
        chosen, sentence = choose_device(host, local_rank=0, local_world_size=ranks)
        assert chosen.type == expected
        assert device in sentence
        assert expected in sentence
    else:
        with pytest.raises(PlacementError, match=expected):
            choose_device(host, local_rank=0, local_world_size=ranks)


@pytest.mark.parametrize("device", ["auto", "cuda"])
@pytest.mark.parametrize("given", [None, "1", "GPU-1"])
def test_gpus_that_torch_does_not_see_are_no_reason_to_measure_the_cpu(
    monkeypatch: pytest.MonkeyPatch, device: str, given: str | None
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if given is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    nvml = FakeNvml(Board(uuid="GPU-0"), Board(uuid="GPU-1"))
    seen = "2: " if given is None else "1: "
    with pytest.raises(PlacementError) as refused:
        choose_device(Host.model_validate({"device": device}), local_rank=0, local_world_size=1, nvml=nvml)
    assert f"has GPUs for this job ({seen}{Board('').name}; driver 570.124.06), but torch" in str(refused.value)
    assert "a build without CUDA, sees none" in str(refused.value)
    assert "host.device: cpu" in str(refused.value)
    assert nvml.running == 0


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_a_driver_that_is_too_old_for_the_build_is_named_with_what_the_build_needs(
    monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """Torch warns ("The NVIDIA driver on your system is too old") and reports that CUDA is not available."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    host, nvml = Host.model_validate({"device": device}), FakeNvml(Board("GPU-0"))
    with pytest.raises(PlacementError) as refused:
        choose_device(host, local_rank=0, local_world_size=1, nvml=nvml)
    assert "driver 570.124.06), but torch" in str(refused.value)
    assert "made for CUDA 13.0, sees none. Install a build of torch that fits the driver" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "failing", "why"),
    [
        (None, pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "NVML does not answer: Driver Not Loaded."),
        (None, pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "NVML does not answer: NVML Shared Library Not Found."),
        ("7", 0, "CUDA_VISIBLE_DEVICES='7' matches none of the 2 GPU(s) of this host."),
        ("MIG-gone", 0, "CUDA_VISIBLE_DEVICES='MIG-gone' matches none of the 2 GPU(s) of this host."),
        ("", 0, ""),
    ],
)
def test_why_a_study_that_insists_on_cuda_has_none(
    monkeypatch: pytest.MonkeyPatch, given: str | None, failing: int, why: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if given is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    nvml = FakeNvml(Board("GPU-0"), Board("GPU-1"), failing=failing)
    with pytest.raises(PlacementError) as refused:
        choose_device(Host(device="cuda"), local_rank=0, local_world_size=1, nvml=nvml)
    none, ask_for = "no CUDA device is visible to this job.", "Request a GPU, or set host.device: cpu"
    assert str(refused.value).endswith(" ".join(filter(None, [none, why, ask_for])))
    if given:
        with pytest.raises(PlacementError, match="matches none of the 2 GPU") as refused:
            choose_device(Host(), local_rank=0, local_world_size=1, nvml=nvml)


@pytest.mark.parametrize(
    ("number", "version"), [(8902, "8.9.2"), (90100, "9.1.0"), (91002, "9.10.2"), (None, None)]
)
def test_the_version_of_cudnn_is_spelled_out(
    monkeypatch: pytest.MonkeyPatch, number: int | None, version: str | None
) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: number)
    assert placement.cudnn_version() == version


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_gpus_that_are_hidden_from_the_job_are_left_alone(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    nvml = FakeNvml(Board(uuid="GPU-0"))
    chosen, _ = choose_device(Host(), local_rank=0, local_world_size=1, nvml=nvml)
    assert chosen.type == "cpu"
    failing = FakeNvml(Board("GPU-0"), failing=pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert choose_device(Host(), local_rank=0, local_world_size=1, nvml=failing)[0].type == "cpu"


def test_a_collective_fails_only_after_the_rank_has_given_up() -> None:
    assert group_timeout_s(1200) == 1260
    assert 0 < group_timeout_s(inf) < datetime.timedelta.max.total_seconds()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core only")
def test_ranks_are_bound_to_cores_of_their_own() -> None:
    """In processes of their own, for the binding lasts."""
    code = (
        "import os, sys\n"
        "from scalestudy.study.config.conditions import Host\n"
        "from scalestudy.train.place.placement import bind_cores\n"
        "bound = bind_cores(Host(), local_rank=int(sys.argv[1]), local_world_size=2)\n"
        "print(*bound, sorted(os.sched_getaffinity(0)))"
    )
    lines = [
        subprocess.run([sys.executable, "-c", code, rank], capture_output=True, text=True, check=True).stdout
        for rank in ("0", "1")
    ]
    first, second = sorted(os.sched_getaffinity(0))[:2]
    assert lines == [f"({first},) 1 [{first}]\n", f"({second},) 1 [{second}]\n"]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core only")
def test_a_rank_is_bound_to_what_the_launcher_decided() -> None:
    """Ranks do not ask NVML where they run: the launcher did, once for all of a host."""
    first, second = sorted(os.sched_getaffinity(0))[:2]
    decided = Portions(1, ((second,), (first,)))
    code = (
        "import os\n"
        "from scalestudy.train.place.placement import place_rank\n"
        "from scalestudy.study.config.conditions import Host\n"
        "place = place_rank(Host())\n"
        "print(place.cores, place.threads, sorted(os.sched_getaffinity(0)))"
    )
    environment = os.environ | tell(decided) | {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout == f"({second},) 1 [{second}]\n"


def test_unpinned_ranks_share_what_there_is() -> None:
    available = tuple(sorted(os.sched_getaffinity(0)))
    host = Host.model_validate({"pin": False, "cores_per_rank": 64})
    assert placement.bind_cores(host, local_rank=0, local_world_size=2) == (available, 64)
    assert tuple(sorted(os.sched_getaffinity(0))) == available
