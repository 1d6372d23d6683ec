"""Traces: which are recorded, which are read, and the summary of events with a known answer."""

from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from scalestudy.analyse.trace.spans import contains, difference, intersection, length, union
from scalestudy.analyse.trace.summary import TraceSummary, summarise_trace
from scalestudy.errors import UserError
from scalestudy.record.traces import read_trace
from scalestudy.train.profile import take_trace
from torch import nn

US = 1e-6
CPU = torch.device("cpu")

# torch_tb_profiler/consts.py of pytorch/kineto, written again.
TENSORBOARD = re.compile(r"(?P<worker>.*?)(?P<span>\.\d+)?\.pt\.trace\.json(\.gz)?")


def event(name: str, begin: float, end: float, *, thread: int = 1, kind: str = "cpu_op", **args: Any) -> dict:
    """An event as Kineto writes it; times in microseconds."""
    place = {"pid": 7, "tid": thread, "ts": begin, "dur": end - begin}
    return {"ph": "X", "cat": kind, "name": name} | place | {"args": args}


def step(number: int, begin: float, end: float) -> dict:
    return event(f"ProfilerStep#{number}", begin, end, kind="user_annotation")


def gloo(begin: float, end: float, *, thread: int = 2, name: str = "gloo:all_reduce") -> dict:
    return event(name, begin, end, thread=thread, kind="user_annotation")


def times_us(summary: TraceSummary) -> dict[str, float]:
    """Own time of the listed operators."""
    return {operator.name: round(operator.time_s / US, 3) for operator in summary.operators}


def parts_us(summary: TraceSummary) -> tuple[float, ...]:
    """(step, computation, collectives, overlap, other, idle); checks that they add up."""
    parts = [
        summary.step_time_s,
        summary.computation_time_s,
        summary.collective_time_s,
        summary.overlap_time_s,
        summary.other_time_s,
        summary.idle_time_s,
    ]
    total, computation, collectives, overlap, other, idle = parts
    assert computation + collectives - overlap + other + idle == pytest.approx(total, rel=1e-6)
    return tuple(round(part / US, 3) for part in parts)


def test_sets_of_spans_agree_with_counting_points() -> None:
    draw = random.Random(3)
    for _ in range(300):
        begins = [[draw.randrange(30) for _ in range(draw.randrange(6))] for _ in range(2)]
        raw = [[(begin, begin + draw.randrange(6)) for begin in some] for some in begins]
        points = [{point for begin, end in some for point in range(begin, end)} for some in raw]
        left, right = map(union, raw)
        for found, expected in [
            (left, points[0]),
            (intersection(left, right), points[0] & points[1]),
            (difference(left, right), points[0] - points[1]),
        ]:
            assert length(found) == len(expected)
            assert {point for point in range(40) if contains(found, point)} == expected
            assert found == union(found)


def test_own_time_leaves_out_what_an_operator_calls() -> None:
    summary = summarise_trace(
        [
            step(0, 0, 100),
            event("aten::linear", 10, 60),
            event("aten::t", 12, 20),
            event("aten::addmm", 20, 55),
            event("aten::copy_", 30, 35),
            event("aten::copy_", 70, 80),
        ]
    )
    assert times_us(summary) == {"aten::addmm": 30, "aten::copy_": 15, "aten::t": 8, "aten::linear": 7}
    first, second = summary.operators[:2]
    assert (first.calls_per_step, second.calls_per_step) == (1, 2)
    assert first.share == pytest.approx(0.3)
    assert parts_us(summary) == (100, 60, 0, 0, 0, 40)
    assert (summary.device, summary.steps, summary.hidden_share, summary.collectives) == ("cpu", 1, None, ())


def test_a_collective_is_hidden_where_another_thread_computes() -> None:
    events = [
        step(0, 0, 100),
        event("aten::mm", 10, 50),
        event("c10d::allreduce_", 15, 20),  # issues it; not a second collective, nor computation
        gloo(20, 80),
    ]
    summary = summarise_trace(events)
    assert parts_us(summary) == (100, 35, 60, 30, 5, 30)
    assert summary.hidden_share == pytest.approx(0.5)
    (collective,) = summary.collectives
    assert (collective.name, collective.calls_per_step, collective.bytes) == ("gloo:all_reduce", 1, None)
    assert collective.time_s == pytest.approx(60 * US)


def test_two_collectives_at_once_are_two_calls_and_one_time() -> None:
    summary = summarise_trace([step(0, 0, 100), gloo(10, 50), gloo(30, 70, thread=3), event("aten::mm", 0, 40)])
    assert parts_us(summary) == (100, 40, 60, 30, 0, 30)
    (collective,) = summary.collectives
    assert (collective.calls_per_step, round(collective.time_s / US)) == (2, 80)


def test_a_collective_inside_a_collective_is_the_same_one() -> None:
    summary = summarise_trace([step(0, 0, 100), gloo(10, 50, name="gloo:reduce_scatter"), gloo(15, 45)])
    (collective,) = summary.collectives
    assert (collective.name, collective.calls_per_step) == ("gloo:reduce_scatter", 1)


def test_threads_that_compute_together_count_once() -> None:
    summary = summarise_trace([step(0, 0, 100), event("aten::mm", 0, 50), event("aten::mm", 30, 90, thread=4)])
    assert parts_us(summary) == (100, 90, 0, 0, 0, 10)
    (operator,) = summary.operators
    assert operator.share == pytest.approx(1.1)  # own time, of both


def test_a_step_without_a_collective_halves_the_mean() -> None:
    summary = summarise_trace([step(0, 0, 100), step(1, 100, 200), gloo(10, 50)])
    assert parts_us(summary) == (100, 0, 20, 0, 0, 80)
    assert (summary.steps, summary.hidden_share, summary.collectives[0].calls_per_step) == (2, 0, 0.5)


def test_an_event_across_the_edge_of_a_step_counts_by_its_parts() -> None:
    """Steps end where they end: 10 us lie between these two, and belong to neither."""
    events = [
        step(3, 100, 200),
        step(4, 210, 310),
        event("aten::mm", 50, 110),  # began before the first step
        event("aten::add", 190, 230),  # crosses from one to the other
        gloo(300, 400),
    ]
    summary = summarise_trace(events)
    assert times_us(summary) == {"aten::add": 15, "aten::mm": 5}
    assert {o.name: o.calls_per_step for o in summary.operators} == {"aten::add": 0.5, "aten::mm": 0}
    assert parts_us(summary) == (100, 20, 5, 0, 0, 75)
    assert summary.collectives[0].calls_per_step == 0.5


def test_a_wait_inside_the_autograd_engine_is_not_computation() -> None:
    """FSDP waits for its all-gather in a function of the backward pass."""
    outer = "autograd::engine::evaluate_function: RegisterPostBackwardFunctionBackward"
    events = [
        step(0, 0, 100),
        event(outer, 10, 90),
        event("RegisterPostBackwardFunctionBackward", 12, 88),
        event("c10d::_reduce_scatter_base_", 20, 22),
        event("aten::copy_", 80, 85),
        gloo(21, 79),
    ]
    summary = summarise_trace(events)
    assert parts_us(summary) == (100, 5, 58, 0, 17, 20)
    assert summary.hidden_share == 0


def test_without_ranges_of_a_backend_its_calls_are_the_collectives() -> None:
    events = [
        step(0, 0, 100),
        event("c10d::allreduce_", 10, 60),
        event("aten::copy_", 20, 30),  # its own copy is part of it, and hides nothing
        event("aten::mm", 40, 70, thread=4),
    ]
    summary = summarise_trace(events)
    assert parts_us(summary) == (100, 30, 50, 20, 0, 40)
    assert [collective.name for collective in summary.collectives] == ["c10d::allreduce_"]
    assert times_us(summary) == {"aten::mm": 30, "aten::copy_": 10}


def test_only_the_longest_operators_are_listed() -> None:
    events = [step(0, 0, 1000), *(event(f"aten::op{n}", 20 * n, 21 * n) for n in range(1, 20))]
    assert list(times_us(summarise_trace(events, top=2))) == ["aten::op19", "aten::op18"]


def test_a_trace_without_steps_is_refused() -> None:
    with pytest.raises(UserError, match="no ProfilerStep"):
        summarise_trace([event("aten::mm", 0, 1)])


def kernel(name: str, begin: float, end: float, *, stream: int, correlation: int, **args: Any) -> dict:
    """As pytorch/kineto writes one (libkineto/src/output_json.cpp and CuptiActivity.cpp)."""
    place = {"device": 0, "context": 1, "stream": stream, "correlation": correlation}
    shape = {"grid": [8, 12, 1], "block": [128, 1, 1], "est. achieved occupancy %": 5}
    numbers = {"External id": correlation, "queued": 0, "registers per thread": 128, "shared memory": 13056}
    whole = event(name, begin, end, thread=stream, kind="kernel", **numbers, **place, **shape, **args)
    return whole | {"pid": 0}


def test_summary_of_kernels_on_two_streams() -> None:
    """The host is two steps ahead of the device; in the second step the all-reduce outlasts the computation."""
    nccl = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    message = {
        "Collective name": "allreduce",
        "In msg nelems": 1000,
        "Out msg nelems": 1000,
        "Group size": 2,
        "dtype": "BFloat16",
    }
    launches = [
        ("cudaLaunchKernel", 1, 5, 1),
        ("cudaMemcpyAsync", 2, 12, 1),
        ("cudaLaunchKernelExC", 3, 15, 9),
        ("cudaLaunchKernel", 4, 18, 9),
        ("cudaLaunchKernel", 5, 25, 1),
        ("cudaLaunchKernelExC", 6, 30, 9),
    ]
    copy = event("Memcpy HtoD (Pinned -> Device)", 400, 420, thread=7, kind="gpu_memcpy", correlation=2, stream=7)
    events = [
        step(2, 0, 20),
        step(3, 20, 40),
        *(
            event(name, at, at + 1, thread=thread, kind="cuda_runtime", cbid=211, correlation=number)
            for name, number, at, thread in launches
        ),
        kernel("before", 900, 950, stream=7, correlation=0),  # launched before the steps, and slow to come
        kernel("sm80_gemm", 100, 400, stream=7, correlation=1),
        copy | {"pid": 0},
        kernel(nccl, 350, 450, stream=20, correlation=3, **message),
        kernel("sm80_gemm", 430, 480, stream=7, correlation=4),
        kernel("sm80_add", 500, 600, stream=7, correlation=5),
        kernel(nccl, 550, 700, stream=20, correlation=6, **message),
        # What the trace says of the same collectives elsewhere:
        event("c10d::allreduce_", 14, 17, thread=9),
        event("record_param_comms", 14.5, 16.5, thread=9, **message),
        event("nccl:all_reduce", 14.6, 16.4, thread=9, kind="user_annotation"),
        event("nccl:all_reduce", 349, 451, thread=20, kind="gpu_user_annotation") | {"pid": 0},
        event("aten::mm", 1, 10),
    ]
    summary = summarise_trace(events)
    assert (summary.device, summary.steps) == ("cuda", 2)
    # Both steps together: 100 to 700. Gemms 300 + 50, add 100; all-reduces 100 + 150; both 50 + 20 and 50.
    # The copy lies inside the all-reduce; nothing runs from 480 to 500.
    assert parts_us(summary) == (300, 225, 125, 60, 0, 10)
    assert summary.hidden_share == pytest.approx(120 / 250)
    (collective,) = summary.collectives
    assert (collective.name, collective.calls_per_step) == ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 1)
    assert collective.bytes == 2000
    assert collective.time_s == pytest.approx(125 * US)
    assert times_us(summary) == {"sm80_gemm": 175, "sm80_add": 50, "Memcpy HtoD (Pinned -> Device)": 10}


def test_copies_alone_on_the_device_are_neither_idle_nor_computation() -> None:
    launch = event("cudaMemcpyAsync", 1, 2, kind="cuda_driver", correlation=1)
    copy = event("Memcpy HtoD", 50, 60, thread=7, kind="gpu_memcpy", correlation=1)
    late = event("cudaLaunchKernel", 3, 4, kind="cuda_runtime", correlation=2)
    work = kernel("gemm", 65, 90, stream=7, correlation=2)
    assert parts_us(summarise_trace([step(0, 0, 10), launch, copy, late, work])) == (40, 25, 0, 0, 10, 5)


def test_a_real_trace_of_one_process(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs = torch.randn(128, 64)
    took_s = []

    def run_step() -> None:
        begin = time.perf_counter()
        model(inputs).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        took_s.append(time.perf_counter() - begin)

    def run_steps(steps: int, *, after_step: Callable[[], None] | None = None) -> None:
        blocks.append(steps)
        for _ in range(steps):
            run_step()
            if after_step is not None:
                after_step()

    blocks: list[int] = []
    path = take_trace(run_steps, steps=4, warmup_steps=2, directory=tmp_path / "log", rank=3, device=CPU)
    assert len(took_s) == 6
    assert blocks == [2, 4], "the warm-up is a block, and all traced steps are another"
    assert path == tmp_path / "log" / "trace-rank3.pt.trace.json.gz"
    assert list(path.parent.iterdir()) == [path]
    name = TENSORBOARD.fullmatch(path.name)
    assert name and (name["worker"], name["span"]) == ("trace-rank3", None)

    events = read_trace(path)
    ranges = sorted(event["name"] for event in events if event["name"].startswith("ProfilerStep"))
    assert ranges == [f"ProfilerStep#{number}" for number in (2, 3, 4, 5)]
    summary = summarise_trace(events, top=100)
    assert (summary.device, summary.steps, summary.hidden_share, summary.collectives) == ("cpu", 4, None, ())
    calls = {operator.name: operator.calls_per_step for operator in summary.operators}
    assert calls["aten::addmm"] == 2  # two linear layers forward
    assert calls["aten::mm"] == 3  # and backward, without the gradient of the input
    parts_us(summary)
    assert 0.9 < summary.step_time_s / (sum(took_s[2:]) / 4) < 3
    assert 0 < summary.computation_time_s < summary.step_time_s
    plain = summary.model_dump(mode="json")
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


RANK = """
import json, sys, time
from pathlib import Path
import torch
import torch.distributed as dist
from torch import nn
from scalestudy.train.profile import take_trace

torch.set_num_threads(1)
dist.init_process_group("gloo")
out, took_s = Path(sys.argv[1]), []
plain = nn.Sequential(*[nn.Linear(256, 256, bias=False) for _ in range(4)])
model = nn.parallel.DistributedDataParallel(plain, bucket_cap_mb=0.2)  # a bucket for each of four weights
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.randn(64, 256)

def run_step():
    begin = time.perf_counter()
    model(inputs).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    took_s.append(time.perf_counter() - begin)

def run_steps(steps, after_step=lambda: None):
    for _ in range(steps):
        run_step()
        after_step()

rank = dist.get_rank()
take_trace(run_steps, steps=5, warmup_steps=3, directory=out, rank=rank, device=torch.device("cpu"))
(out / f"took-{rank}.json").write_text(json.dumps(took_s[3:]))
dist.destroy_process_group()
"""


@pytest.mark.slow  # tests/e2e/test_step_times.py has real traces too
def test_a_real_trace_of_two_ranks(tmp_path: Path) -> None:
    script = tmp_path / "rank.py"
    script.write_text(RANK)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    result = subprocess.run([*command, script, tmp_path / "log"], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    for rank in range(2):
        summary = summarise_trace(read_trace(tmp_path / "log" / f"trace-rank{rank}.pt.trace.json.gz"), top=100)
        took_s = json.loads((tmp_path / "log" / f"took-{rank}.json").read_text())
        (collective,) = summary.collectives
        assert (collective.name, collective.calls_per_step, collective.bytes) == ("gloo:all_reduce", 4, None)
        assert {o.name: o.calls_per_step for o in summary.operators}["c10d::allreduce_"] == 4
        assert 0 < summary.collective_time_s <= collective.time_s * (1 + 1e-6)
        assert summary.hidden_share is not None and 0 <= summary.hidden_share <= 1
        parts_us(summary)
        assert 0.9 < summary.step_time_s / (sum(took_s) / len(took_s)) < 3


def test_a_trace_that_is_missing_short_or_none_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "trace-rank0.pt.trace.json.gz"
    with pytest.raises(UserError, match=r"trace-rank0.*missing"):
        read_trace(path)
    whole = gzip.compress(json.dumps({"traceEvents": [step(number, 0, 1) for number in range(500)]}).encode())
    path.write_bytes(whole)
    assert len(read_trace(path)) == 500
    for size in (len(whole) // 2, len(whole) - 1, 5, 0):
        path.write_bytes(whole[:size])
        with pytest.raises(UserError, match=r"trace-rank0"):
            read_trace(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"trace-rank0.*truncated"):
        read_trace(path)
    for content in (b"{}", b"[1]", b'{"traceEvents": [', b"\xff"):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(UserError, match=r"trace-rank0.*not a trace"):
            read_trace(path)
    path.write_bytes(b"plain text")
    with pytest.raises(UserError, match=r"trace-rank0.*not a trace"):
        read_trace(path)
