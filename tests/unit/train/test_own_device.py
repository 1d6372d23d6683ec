"""Two ranks on one GPU are refused by name before NCCL sees them, and so is a GPU that the driver refuses."""

from __future__ import annotations

import json
import multiprocessing
import os
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

import pytest
import torch
import torch.distributed as dist
from scalestudy.launch.ranks import free_port
from scalestudy.study.config.conditions import Host
from scalestudy.train.place import own_device
from scalestudy.train.place.own_device import Gpu, compare_gpus, on_one_gpu, refuse_shared_gpu
from scalestudy.train.place.placement import Placement, PlacementError, place_rank, use_gpu

A, B = Gpu("node1", "GPU-aaaa", "0000:3b:00"), Gpu("node1", "GPU-bbbb", "0000:5e:00")


@pytest.mark.parametrize(
    ("gpus", "named"),
    [
        ([A, B], None),
        ([A, replace(B, node="node2", pci=A.pci)], None),
        ([replace(A, pci=""), replace(B, pci="")], None),
        ([B, A, A], "rank 1 and rank 2 are on one GPU (GPU-aaaa, PCI 0000:3b:00, on node1)"),
        ([A, replace(B, pci=A.pci)], "rank 0 and rank 1 are on one GPU (GPU-aaaa, PCI 0000:3b:00, on node1)"),
        ([replace(A, pci="")] * 2, "rank 0 and rank 1 are on one GPU (GPU-aaaa, on node1)"),
    ],
)
def test_ranks_on_one_gpu_are_named(gpus: list[Gpu], named: str | None) -> None:
    """Also slices of one GPU: NCCL compares PCI addresses."""
    refused = on_one_gpu(gpus)
    assert (refused or "").startswith(named or "")
    assert (refused is None) == (named is None)


def placed(backend: str) -> Placement:
    return replace(place_rank(Host(device="cpu", pin=False)), backend=backend)


def _rank(rank: int, port: int, gpu: Gpu, backend: str, said: Any) -> None:
    """Compare devices, then create a process group with the same store, as a run does."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    own_device.gpu_of = lambda _: gpu
    try:
        refuse_shared_gpu(placed(backend), timeout_s=180)
        dist.init_process_group("gloo")
        dist.barrier()
        said.put((rank, "met"))
    except PlacementError as error:
        said.put((rank, str(error)))
    said.close()
    said.join_thread()
    os._exit(0)


@pytest.mark.parametrize(
    ("gpus", "backend", "end"),
    [((A, B), "nccl", "met"), ((A, A), "gloo", "met"), ((A, A), "nccl", "rank 0 and rank 1 are on one GPU")],
)
def test_two_ranks_compare_their_gpus_before_they_make_a_group(
    gpus: tuple[Gpu, Gpu], backend: str, end: str
) -> None:
    forks = multiprocessing.get_context("fork")
    said, port = forks.Queue(), free_port()
    ranks = [forks.Process(target=_rank, args=(rank, port, gpus[rank], backend, said)) for rank in range(2)]
    for process in ranks:
        process.start()
    ends = dict(said.get(timeout=180) for _ in ranks)
    for process in ranks:
        process.join(60)
    assert sorted(ends) == [0, 1]
    assert all(text.startswith(end) for text in ends.values())


@pytest.mark.parametrize(("rank", "waits"), [(0, True), (1, False)])
def test_only_the_rank_that_serves_the_store_waits_for_the_others(rank: int, waits: bool) -> None:
    """Rank 0 may exit as soon as all have read, so no other rank may need the store after that."""
    store = dist.HashStore()
    store.set_timeout(timedelta(seconds=1))
    for other in range(3):
        dist.PrefixStore("gpus", store).set(str(other), json.dumps(asdict(A)))
    refused = "Wait timeout" if waits else "rank 0 and rank 1 are on one GPU"
    with pytest.raises(RuntimeError, match=refused):
        compare_gpus(store, rank, 3, A)


def test_a_gpu_that_the_driver_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the one that torch raises if other processes have filled the memory."""

    def refuse(_: torch.device) -> None:
        raise RuntimeError(
            "CUDA error: out of memory\nCUDA kernel errors might be reported at some other API call"
        )

    monkeypatch.setattr(torch.cuda, "set_device", refuse)
    with pytest.raises(
        PlacementError, match=r"^cuda:1 cannot be used: CUDA error: out of memory\. Another process"
    ):
        use_gpu(torch.device("cuda", 1))
