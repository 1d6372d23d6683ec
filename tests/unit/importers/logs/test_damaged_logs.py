"""Logs in which bytes were changed, or which were cut off anywhere: read, or refused in words, and never a
traceback."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import derive

ROWS = range(1, 40)
SAMPLES: dict[str, str] = {
    "megatron": "using world size: 8, data-parallel size: 8\n"
    + "".join(
        f" [2025-01-31 12:00:{row:02d}] iteration {row:8d}/     500 | consumed samples: {64 * row:12d} | elapsed"
        " time per iteration (ms): 500.5 | learning rate: 1.5E-04 | global batch size:    64 | lm loss: 3.25E+00"
        " |\n"
        for row in ROWS
    ),
    "torchtitan": "".join(
        f"[rank0]:[titan] 2025-10-30 14:32:{row:02d},897 - root - INFO - step: {row:2}  loss:  8.1661  grad_norm:"
        "  3.6855  memory:  2.47GiB(3.12%)  tps: 8  tflops: 1.90  mfu: 0.19%\n"
        for row in ROWS
    ),
    "deepspeed": "".join(
        f"[2023-11-07 01:00:{row:02d},711] [INFO] [timer.py:260:stop] epoch=0/micro_step=4/global_step={row},"
        " RunningAvgSamplesPerSec=25.02, CurrSamplesPerSec=64.0, MemAllocated=4.32GB, MaxMemAllocated=38.49GB\n"
        for row in ROWS
    ),
    "nanotron": "".join(
        f"10/01/2024 12:00:{row:02d} [INFO|DP=0|PP=0|TP=0|node]: iteration: {row} / 200 | consumed_tokens: 4.1M |"
        " time_per_iteration_ms: 1.02K | tokens_per_sec: 1.03M | tokens_per_sec_per_gpu: 129K |"
        " global_batch_size: 256 | lm_loss: 10.5 |\n"
        for row in ROWS
    ),
    "any trainer": "".join(
        f"2025-03-04 10:00:{row:02d},000 | step {row} | loss: 2.25 | step_time: 500.5 ms | samples/s: 127.9\n"
        for row in ROWS
    ),
    "timm": "".join(
        f"Train: 0 [{row:4d}/900 (  0%)]  Loss:  6.97 (6.99)  Time: 0.500s,  128.00/s  (0.55s, "
        " 116.36/s)  LR: 5e-07\n"
        for row in ROWS
    ),
    "progress bars": "".join(
        f" {row}%|#    | {row}/100 [{row // 60:02d}:{row % 60:02d}<01:40,  1.00s/it, loss=2.25]\n" for row in ROWS
    ),
    "rows over lines": "".join(
        f"-----------------\n| step       | {row} |\n| step_time  | 0.5 s |\n| loss | 2.25 |\n" for row in ROWS
    ),
    "durations": "".join(f"step {row} | loss 2.25 | elapsed: 0:00:{row:02d} | eta: 0:12:31\n" for row in ROWS),
    "epochs": "".join(f"Epoch {row}/50 | loss 2.25 | Epoch Time: 1m {row}s\n" for row in ROWS),
    "olmo": "".join(
        f"2025-12-12 11:05:{row:02d}.850\tnode-03:0\tolmo.train:979\tINFO\t[step={row}/900,epoch=0]\n"
        "    train/CrossEntropyLoss=2.919\n    throughput/device/tokens_per_second=8\n"
        for row in ROWS
    ),
    "fairseq": "".join(
        f'2021-03-08 12:43:{row:02d} | INFO | train_inner | {{"epoch": 1, "wps": "64", "wpb": "64",'
        f' "num_updates": "{row}"}}\n'
        for row in ROWS
    ),
    "csv": "step,step_time_ms,samples/s,timestamp,gpus\n"
    + "".join(f'{row},100.5,"640,5",{1.7e9 + row / 10},8\n' for row in ROWS),
    "mlperf": "".join(
        ":::MLLOG "
        + json.dumps({"time_ms": 1000 * row, "key": key, "value": value, "metadata": {"samples_count": 64 * row}})
        + "\n"
        for row in ROWS
        for key, value in (
            ("global_batch_size", 64),
            ("tracked_stats", {"throughput": 64.0}),
            ("block_stop", None),
        )
    ),
    "dllogger": "".join(
        "DLLL "
        + json.dumps({"type": "LOG", "timestamp": str(row), "step": [0, row], "data": {"samples/s": 64.0}})
        + "\n"
        for row in ROWS
    ),
    "trainer_state": json.dumps(
        {
            "best_metric": None,
            "global_step": 100,
            "log_history": [{"step": row, "loss": 2.5} for row in ROWS]
            + [{"train_runtime": 50.0, "train_samples_per_second": 64.0, "train_steps_per_second": 2.0}],
            "train_batch_size": 8,
        },
        indent=2,
    ),
    "kineto": json.dumps(
        {
            "schemaVersion": 1,
            "distributedInfo": {"world_size": 8},
            "traceEvents": [
                {"ph": "X", "name": f"ProfilerStep#{row}", "ts": 1e4 * row, "dur": 9990.5} for row in ROWS
            ],
        },
        indent=1,
    ),
}
BYTES = b"0123456789-+.,:;|\"'{}[]\n\r\t\x00\xff\xc3\x1b<eEnN /"


def damaged(text: bytes, chance: random.Random) -> bytes:
    """The text with up to five bytes changed, removed or added, and perhaps cut off."""
    found = bytearray(text)
    for _ in range(chance.randint(0, 5)):
        at = chance.randrange(len(found))
        found[at : at + chance.randint(0, 3)] = bytes(chance.choices(BYTES, k=chance.randint(0, 3)))
    return bytes(found[: chance.randrange(len(found))] if chance.random() < 0.3 else found)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_log_is_read_or_refused_in_words(name: str, tmp_path: Path) -> None:
    chance, path = random.Random(name), tmp_path / "log"
    given, known = Given(devices=8, batch=64, samples=6400, per="all"), Given(devices=8, batch=64)
    whole = SAMPLES[name].encode()
    path.write_bytes(whole)
    assert derive(read_log(path, given)[0], known).step_s > 0, "whole, it is read"
    read = 0
    for _ in range(150):
        path.write_bytes(damaged(whole, chance))
        try:
            for log in read_log(path, given):
                assert derive(log, known).step_s > 0
            read += 1
        except UserError as error:
            assert str(path) in str(error)
    assert read, "small damage leaves most of a log"


@pytest.mark.parametrize("number", ["9e30", "1e99"])
def test_a_number_out_of_range_gives_no_warning(number: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "".join(
            f"step {number if at == 7 else at} loss {number if at == 9 else 2.5} step time: 0.5 s\n"
            for at in range(1, 40)
        )
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (log,) = read_log(path, Given(devices=1, batch=4))
        assert derive(log, Given(devices=1, batch=4)).step_s == pytest.approx(0.5)
