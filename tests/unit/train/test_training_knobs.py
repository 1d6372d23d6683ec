"""What the knobs do to training, taken apart: learning rate, indices, feeds, updates, checkpoints."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from launches import spec_of, trainer_of
from pydantic import TypeAdapter
from scalestudy.errors import UserError
from scalestudy.study.config.models import LanguageModel
from scalestudy.study.config.optimizers import Optimizer
from scalestudy.study.config.variants import InputOptions
from scalestudy.train.data import Split
from scalestudy.train.data.batches import Share
from scalestudy.train.data.feed import DirectFeed, LoaderFeed, make_feed
from scalestudy.train.loop import Trainer
from scalestudy.train.optimizers import build_optimizer, build_schedule, learning_rate_share
from scalestudy.train.place.memory_limit import is_out_of_memory
from scalestudy.train.step.checkpoints import Checkpoints
from scalestudy.train.step.update import Update
from scalestudy.train.strategies import ddp
from scalestudy.train.strategies.sync_batch_norm import synchronise_norms, synchronised_norms
from torch import Tensor, nn

CPU = torch.device("cpu")


def optimizer_of(**config: Any) -> Optimizer:
    return TypeAdapter(Optimizer).validate_python({"type": "sgd", **config})


def trainer(directory: Path, variant: dict[str, Any], **workload: Any) -> Trainer:
    """The trainer of one process, in this one."""
    spec = spec_of({"strategy": "single", **variant}, workload)
    return trainer_of(spec, directory)


# Learning rate


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"warmup_steps": 4}, [0.25, 0.5, 0.75, 1, 1, 1, 1, 1]),
        ({"decay": "linear"}, [1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]),
        ({"decay": "linear", "warmup_steps": 4}, [0.25, 0.5, 0.75, 1, 1, 0.75, 0.5, 0.25]),
        ({"decay": "cosine"}, [(1 + math.cos(math.pi * step / 8)) / 2 for step in range(8)]),
        ({"decay": "cosine", "warmup_steps": 6}, [1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1, 1, 0.5]),
        ({"decay": "linear", "warmup_steps": 8}, [step / 8 for step in range(1, 9)]),
    ],
    ids=str,
)
def test_shapes_of_the_learning_rate(config: dict[str, Any], expected: list[float]) -> None:
    entry = optimizer_of(**config)
    assert [learning_rate_share(entry, step, steps=8) for step in range(8)] == pytest.approx(expected)
    if entry.decay != "none":
        assert learning_rate_share(entry, 20, steps=8) == pytest.approx(0), "probes come after the last step"


def test_an_optimizer_has_the_scaled_rate_and_follows_its_schedule() -> None:
    config = optimizer_of(learning_rate=0.1, momentum=0, warmup_steps=2, decay="linear")
    parameter = nn.Parameter(torch.zeros(1))
    optimizer = build_optimizer(config, [parameter], factor=4)
    update = Update(nn.ParameterList([parameter]), optimizer, schedule=build_schedule(config, optimizer, steps=6))
    for _ in range(6):
        update.backward(parameter.sum())  # a gradient of 1
        update.step()
    assert parameter.item() == pytest.approx(-0.4 * (0.5 + 1 + 1 + 0.75 + 0.5 + 0.25))
    assert build_schedule(optimizer_of(), optimizer, steps=6) is None


# Indices


@pytest.mark.parametrize(
    ("world_size", "parts", "covered"), [(1, 1, 7), (2, 1, 6), (3, 1, 6), (2, 2, 4), (2, 4, 0)]
)
def test_a_tail_is_what_whole_batches_leave_as_far_as_it_divides(
    world_size: int, parts: int, covered: int
) -> None:
    whole = Share(103, global_batch=24, rank=0, world_size=1, seed=5).batches(2)
    ranks = [Share(103, global_batch=24, rank=rank, world_size=world_size, seed=5) for rank in range(world_size)]
    shares = [share.tail(2, parts=parts) for share in ranks]
    assert {len(share) for share in shares} == {covered // world_size}
    assert all(len(share) % parts == 0 for share in shares)
    tail = torch.cat(shares).tolist()
    assert len(tail) == len(set(tail)) == covered
    assert not set(tail) & set(torch.cat(whole).tolist())


def test_there_is_no_tail_where_batches_divide_the_data() -> None:
    assert len(Share(96, global_batch=24, rank=0, world_size=1, seed=5).tail(1, parts=1)) == 0


@pytest.mark.parametrize("reshuffle", [True, False])
def test_the_order_of_an_epoch(tmp_path: Path, reshuffle: bool) -> None:
    made = trainer(tmp_path, {"input": {"reshuffle": reshuffle, "drop_last": False}})
    first, second = ([index.tolist() for index in made.open_epoch(epoch)] for epoch in (1, 2))
    assert [len(batch) for batch in first] == [64] * 22 + [30]
    assert (first == second) is not reshuffle
    extra = [index.tolist() for index in made.open_extra(22)]
    assert (extra == first[:22]) is not reshuffle


# Feeds


def numbered(samples: int = 20, **options: Any) -> Split:
    inputs = torch.arange(samples * 3, dtype=torch.float32).view(samples, 3)
    targets = torch.arange(samples)
    return Split(inputs, targets, inputs[:2], targets[:2], **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"workers": 1}, {"workers": 2, "persistent_workers": True, "prefetch_factor": 3}],
    ids=str,
)
def test_both_feeds_give_the_same_batches(options: dict[str, Any]) -> None:
    """Also in a second epoch, and where the one before was left in the middle."""
    split = numbered()
    direct = make_feed(split, InputOptions(), CPU)
    loader = make_feed(split, InputOptions(loader="dataloader", **options), CPU)
    assert isinstance(direct, DirectFeed)
    assert isinstance(loader, LoaderFeed)
    for epoch, stop in ((1, 2), (2, 4)):
        order = torch.randperm(20, generator=torch.Generator().manual_seed(epoch))
        batches = [*order[:18].split(6), order[18:]]
        direct.open(batches)
        loader.open(batches)
        for index in batches[:stop]:
            for read, expected in zip(direct.read(index), loader.read(index), strict=True):
                assert torch.equal(read, expected)
            assert torch.equal(direct.read(index)[1], index)


def test_a_batch_that_is_read_into_memory_of_its_own_is_the_same() -> None:
    """As it is read for a GPU, into pinned memory; what is allocated is what comes."""
    allocated: list[Tensor] = []

    def allocate(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        allocated.append(torch.full(shape, -1, dtype=dtype))
        return allocated[-1]

    split, index = numbered(), torch.tensor([7, 0, 19, 7])
    into, plain = DirectFeed(split, allocate=allocate).read(index), DirectFeed(split).read(index)
    assert [one.data_ptr() for one in into] == [one.data_ptr() for one in allocated]
    assert all(torch.equal(*pair) for pair in zip(into, plain, strict=True))


def test_only_what_is_copied_to_a_gpu_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    made = torch.empty

    def empty(shape: tuple[int, ...], **options: Any) -> Tensor:
        asked.append(options)
        return made(shape, dtype=options["dtype"])

    monkeypatch.setattr(torch, "empty", empty)
    index = torch.tensor([1, 2])
    make_feed(numbered(), InputOptions(), CPU).read(index)
    assert not asked
    make_feed(numbered(), InputOptions(), torch.device("cuda")).read(index)
    assert [options["pin_memory"] for options in asked] == [True, True]


@pytest.mark.parametrize("loader", ["direct", "dataloader"])
def test_slow_data_take_their_time(loader: str) -> None:
    feed = make_feed(numbered(sample_delay_s=0.005), InputOptions(loader=loader), CPU)
    index = torch.arange(10)
    feed.open([index])
    begin = time.monotonic()
    feed.read(index)
    assert time.monotonic() - begin >= 0.05


# Updates


def three_steps(update_of: Any) -> list[Tensor]:
    """Parameters of a small network after three updates, each from the same losses."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    backward, step = update_of(model, optimizer)
    for _ in range(3):
        for _ in range(2):
            backward(model(torch.ones(5, 4)).square().mean() * 3)
        step()
        assert all(parameter.grad is None for parameter in model.parameters())
    return [parameter.detach() for parameter in model.parameters()]


def by_hand(clip: float | None) -> Any:
    def update_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
        def step() -> None:
            with torch.no_grad():
                gradients = [parameter.grad for parameter in model.parameters()]
                norm = math.sqrt(sum(gradient.square().sum().item() for gradient in gradients))
                assert norm > 0.05, "there is something to clip"
                factor = min(1.0, clip / norm) if clip else 1.0
                for parameter in model.parameters():
                    parameter -= 0.5 * factor * parameter.grad
                    parameter.grad = None

        return Tensor.backward, step

    return update_of


@pytest.mark.parametrize("clip", [None, 0.05, 1e9])
@pytest.mark.parametrize("scaled_on", [None, "cpu"])
def test_an_update_is_what_it_is_by_hand(clip: float | None, scaled_on: str | None) -> None:
    """Loss scaling is taken back before gradients are clipped and used."""

    def ours(model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
        update = Update(model, optimizer, clip=clip, scaled_on=scaled_on)
        return update.backward, update.step

    torch.testing.assert_close(three_steps(ours), three_steps(by_hand(clip)))


@pytest.mark.parametrize(
    "variant",
    [{"accumulation_steps": 4}, {"activation_checkpointing": True}, {"input": {"loader": "dataloader"}}],
    ids=str,
)
def test_one_process_trains_the_same_in_other_ways(tmp_path: Path, variant: dict[str, Any]) -> None:
    losses = []
    for number, knobs in enumerate(({}, variant)):
        made = trainer(tmp_path / str(number), knobs)
        losses.append(made.stepper.run_block(made.open_epoch(1))[1])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[0][-1] < losses[0][0]


# Checkpoints


@pytest.mark.parametrize("in_background", [False, True])
def test_the_last_checkpoints_are_kept_and_removed_in_the_end(tmp_path: Path, in_background: bool) -> None:
    made = trainer(
        tmp_path,
        {"checkpoint_every_steps": 3, "checkpoints_kept": 2, "checkpoint_async": in_background},
        optimizer={"type": "adam"},
    )
    made.stepper.run_block(made.open_epoch(1)[:12])
    suffix = "" if in_background else ".pt"
    folder = tmp_path / "checkpoints"
    if in_background:
        made.stepper._checkpoints._wait()
    assert {path.name for path in folder.iterdir()} == {f"step-9{suffix}", f"step-12{suffix}"}
    if not in_background:
        saved = torch.load(folder / "step-12.pt", weights_only=True)
        assert saved["step"] == 12
        expected = made.plain.state_dict()
        assert all(torch.equal(value, expected[name]) for name, value in saved["model"].items())
        assert saved["optimizer"]["state"][0]["step"] == 12
    made.stepper.stop_bookkeeping()
    assert not folder.exists()


def test_nothing_is_written_where_nothing_is_asked_for(tmp_path: Path) -> None:
    Checkpoints(spec_of({"strategy": "single"}), tmp_path, rank=0).close()
    made = trainer(tmp_path, {})
    made.stepper.run_block(made.open_epoch(1)[:3])
    assert list(tmp_path.iterdir()) == []


# Models, DDP's options, memory


@pytest.mark.parametrize(("size", "wanted"), [("125M", 125e6), ("350M", 350e6), ("1.3B", 1.3e9), ("7B", 7e9)])
def test_the_shape_of_a_language_model_of_a_wanted_size(size: str, wanted: float) -> None:
    width, heads, depth, feedforward = LanguageModel(type="language-model", parameters=size).shape
    assert width == 64 * heads
    assert 12 * width**2 * depth == pytest.approx(wanted, rel=0.02)
    assert feedforward == 4 * width
    assert 1 / 2 < width / (64 * depth) < 2


def test_an_option_that_this_torch_does_not_know_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Older:
        def __init__(self, module: nn.Module, device_ids: Any = None, bucket_cap_mb: float = 25) -> None:
            self.given = bucket_cap_mb

    monkeypatch.setattr(ddp, "DistributedDataParallel", Older)
    model = nn.Linear(2, 2)
    spec = spec_of({"strategy": "ddp", "ddp": {"static_graph": True}})
    said = r"^ddp\.static_graph: torch .* does not support it; it supports bucket_cap_mb$"
    with pytest.raises(UserError, match=said):
        ddp.wrap_ddp(model, spec, CPU, hooked=True)
    spec = spec_of({"strategy": "ddp", "ddp": {"bucket_cap_mb": 5}})
    assert ddp.wrap_ddp(model, spec, CPU, hooked=True).given == 5


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("std::bad_alloc"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"), True),
        (RuntimeError("CUDA driver error: CUDA_ERROR_OUT_OF_MEMORY"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED"), False),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("not enough memory of the past"), False),
    ],
    ids=str,
)
def test_errors_of_memory_are_known(error: Exception, expected: bool) -> None:
    assert is_out_of_memory(error) is expected


# Batch normalisation over all ranks; that it trains as one process does is tests/e2e/test_equal_results.py's


def test_normalisation_over_ranks_keeps_the_parameters() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.BatchNorm2d(2))
    parameters = list(model.parameters())
    assert synchronised_norms(model) == 0
    made = synchronise_norms(model)
    assert synchronised_norms(made) == 2
    assert all(mine is theirs for mine, theirs in zip(made.parameters(), parameters, strict=True))


def test_a_model_without_normalisation_has_nothing_to_synchronise() -> None:
    with pytest.raises(UserError, match=r"ddp\.sync_batch_norm: the model has no batch normalisation"):
        synchronise_norms(nn.Linear(2, 2))
