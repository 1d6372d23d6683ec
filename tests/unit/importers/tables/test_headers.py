"""Headers as people write them: each is what a reader takes it for."""

from __future__ import annotations

import time

import pytest
from scalestudy.importers.headers.meaning import meaning_of

READ = {
    "gpus": "gpus|gpu_num|num_gpus|#GPU|# GPUs|Number of GPUs|**GPUs**|World size|ranks|# of GPU|"
    "Num. GPUs / DP Global Rank|mpiProcesses|ompThreads|GPUs \U0001f5a5\ufe0f|\u26a1\ufe0f GPUs|GPUs ^a^|"
    "[GPUs][1]|MPI Processes [1]|Ranks[2]|GPUs allocated|"
    "Number of GPUs used for training|# GPUs [a]",
    "nodes": "Nodes|Num. Nodes|number of nodes",
    "gpus_per_node": "gpus_per_node|GPUs/node|GPUs per node",
    "batch_per_gpu": "Batch size / GPU|**Batch size / GPU: mixed precision, TF32**|Batch size per GPU|"
    "micro batch size|batch_per_rank",
    "global_batch": "Eff. batch size|Global Batch Size|global_batch|Total batch size",
    "batch": "Batch size|batch",
    "accumulation": "Gradient Accumulation: mixed precision, TF32|Grad accumulation|"
    "Accumulation steps (TF32 and FP16)",
    "throughput": "images/sec|Throughput (img/s) mean (std)|"
    "Throughput - TF32|Throughput [img/s]|Number of mels used with FP32|"
    "kTokens/s|aggregate ops/s|Samples/second",
    "throughput_per_gpu": "tok/(s·GPU)|tok/s/device|TFLOPS/GPU|Throughput per GPU (img/s)|Tokens/sec/GPU",
    "steps_per_s": "it/s|steps/s|Iterations per second",
    "step_time_s": "step_time_s|ms/step|milliseconds per iteration|s/it|Step time (ms)|Time per batch|"
    "Time-delta over 500 steps (min)",
    "total_time_s": "Time to train - FP32|fp32 training time|Epoch time (s)|sec/epoch|Total time",
    "time_s": "Time (s)|Time (s, std in brackets)|time|timeS|milliseconds",
    "printed_speedup": "Speedup|speed-up|reported_speedup|Acceleration Rate|Speedup vs 1 GPU|"
    "Runtime Speedup from 1 GPU|Spdup",
    "scaling_ratio": "Weak scaling - TF32|Strong scaling - mixed precision|Multi-GPU weak scaling with FP32",
    "printed_efficiency": "Efficiency|Effic.|Scaling Eff.|Parallel Efficiency (%)|printed_efficiency|% of linear",
    "precision_ratio": "Throughput speedup (TF32 - mixed precision)|Speed-up with mixed precision|"
    "Mixed precision speedup",
    "ignore": "Memory/GPU|Validation time (ms)|Cost/hour|GPU util (%)|Latency (p95)|MFU|Notes|Expected Speedup|"
    "Amdahl Speedup|GB/s|Ideal efficiency|GPU-s / request|GPU-hours|node-h|core hours|GPU-days to train",
    "model": "Model|Model size|Model Dimension|Model scale|model variant",
}


@pytest.mark.parametrize(
    ("role", "header"),
    [(role, header) for role, names in READ.items() for header in names.split("|")],
)
def test_a_header_is_what_it_says(role: str, header: str) -> None:
    assert meaning_of(header).role == role


def test_what_else_a_header_says() -> None:
    assert meaning_of("Weak scaling - TF32").scaling == "weak"
    assert meaning_of("Throughput - TF32 [img/s]").precisions == ("tf32",)
    assert meaning_of("kTokens/s").factor == 1000
    assert meaning_of("Epoch time (min)").unit == "min"
    assert meaning_of("Total throughput (img/s)").per == "all"


def test_a_header_cannot_take_long() -> None:
    for words in ("count", "per ", "number of ", "n", "a1 "):
        meaning_of(words * 10**4)


@pytest.mark.parametrize("text", ["#" * 400, "# " * 400, "no." * 200, "gpu" + " #" * 200, "gpus per" + "-" * 300])
def test_a_header_of_many_signs_is_read_at_once(text: str) -> None:
    """The import of a log with a progress bar of number signs did not end: each sign nearly doubled the time."""
    begin = time.process_time()
    meaning_of.__wrapped__(text)
    assert time.process_time() - begin < 1
