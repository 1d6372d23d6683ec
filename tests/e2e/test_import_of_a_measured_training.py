"""One real training whose steps are recorded by us and logged by other tools: the throughputs agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_scripts import command_spec, launched_script
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import derive

SCRIPT = """
import json, os, sys, time
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

batch, out = int(sys.argv[1]), sys.argv[2]
rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
if ranks > 1:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(1)
data = TensorDataset(torch.randn(batch * ranks * 700, 128), torch.randn(batch * ranks * 700, 8))
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 8))
if ranks > 1:
    model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
sampler = DistributedSampler(data) if ranks > 1 else None
rows = []
if rank == 0:  # MLPerf's logger stamps its lines itself, so it runs within the loop
    from mlperf_logging import mllog

    mllog.config(filename=f"{out}/mlperf.log")
    mlperf = mllog.get_mllogger()
    mlperf.event(key="global_batch_size", value=batch * ranks)
    mlperf.start(key="run_start")
last = time.perf_counter()
for step, (inputs, targets) in enumerate(DataLoader(data, batch_size=batch, sampler=sampler), 1):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        now = time.perf_counter()
        rows.append((step, (now - last) / 10, time.time(), loss.item()))
        if rank == 0:
            rate = batch * ranks / rows[-1][1]
            mlperf.event(key="tracked_stats", value={"throughput": rate}, metadata={"step_num": step})
        last = now

# What each tool would have written at these steps, by its own library where it has one.
if rank == 0:
    from lightning.fabric.loggers import CSVLogger
    from torch.utils.tensorboard import SummaryWriter
    import mlflow

    world = batch * ranks
    csv_log = CSVLogger(out, name="", version="", flush_logs_every_n_steps=100)
    board = SummaryWriter(f"{out}/board")
    mlflow.set_tracking_uri(f"file://{out}/mlruns")
    names = ("megatron", "deepspeed", "titan", "nanotron", "json", "dll")
    text = {name: open(f"{out}/{name}", "w") for name in names}
    print(f"using world size: {ranks}, data-parallel size: {ranks}", file=text["megatron"])
    mlflow.start_run()
    mlflow.log_params({"world_size": ranks, "global_batch_size": world})
    for step, time_s, at, loss in rows:
        rate = world / time_s
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at))
        csv_log.log_metrics({"epoch": 0, "samples_per_second": rate}, step)
        board.add_scalar("perf/samples_per_second", rate, step, walltime=at)
        mlflow.log_metric("train/samples_per_second", rate, step=step, timestamp=int(at * 1000))
        print(f" [{stamp}] iteration {step:8d}/     700 | consumed samples: {step * world:12d} |"
              f" elapsed time per iteration (ms): {time_s * 1e3:.1f} | learning rate: 1.0E-02 |"
              f" global batch size: {world:5d} | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 1.000 |"
              " number of skipped iterations:   0 | number of nan iterations:   0 |", file=text["megatron"])
        print(f"[{stamp},000] [INFO] [timer.py:260:stop] epoch=0/micro_step={step}/global_step={step},"
              f" RunningAvgSamplesPerSec={rate}, CurrSamplesPerSec={rate}, MemAllocated=0.1GB,"
              " MaxMemAllocated=0.1GB",
              file=text["deepspeed"])
        print(f"[rank0]:[titan] {stamp},000 - root - INFO - step: {step:2}  loss: {loss:7.4f}  grad_norm:  1.0000"
              f"  memory:  0.10GiB(1.00%)  tps: {round(batch / time_s):,}  tflops: 1.00  mfu: 1.00%",
              file=text["titan"])
        day = time.strftime("%m/%d/%Y %H:%M:%S", time.gmtime(at))
        print(f"{day} [INFO|DP=0|PP=0|TP=0|host]: iteration: {step} / 700 | consumed_tokens: {step * world} |"
              f" elapsed_time_per_iteration_ms: {time_s * 1e3:.3g} | tokens_per_sec: {rate / 1e3:.3g}K |"
              f" tokens_per_sec_per_gpu: {rate / ranks / 1e3:.3g}K | global_batch_size: {world} |"
              f" lm_loss: {loss:.3g} | lr: 0.01 | grad_norm: 1", file=text["nanotron"])
        row = {"_step": step, "_timestamp": at, "_runtime": at - rows[0][2], "train/step_time_s": time_s}
        print(json.dumps(row), file=text["json"])
        print("DLLL " + json.dumps({"timestamp": str(at), "datetime": stamp, "elapsedtime": "1", "type": "LOG",
              "step": [0, step], "data": {"throughput (samples/s)": rate, "loss": loss}}), file=text["dll"])
    mlflow.end_run()
    board.close()
    csv_log.save()
    for file in text.values():
        file.close()
if ranks > 1:
    torch.distributed.barrier()
"""
LOGS = {
    "metrics.csv": "Lightning metrics.csv",
    "board/events*": "TensorBoard event file",
    "mlruns": "MLflow run",
    "mlperf.log": "MLPerf log",
    "megatron": "Megatron-LM console log",
    "deepspeed": "DeepSpeed console log",
    "titan": "torchtitan console log",
    "nanotron": "nanotron console log",
    "json": "JSON lines of Weights & Biases",
    "dll": "DLLogger JSON log",
}


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_logs_of_other_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    for module in ("lightning", "tensorboard", "mlflow", "mlperf_logging.mllog"):
        pytest.importorskip(module)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    folder, out = tmp_path / "script", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    spec = command_spec(
        f"train.py {{batch_per_rank}} {out}", ranks, folder=folder, batch_size=64, allow_shared=True
    )
    found = launched_script(spec, tmp_path / "results")
    assert found.record.outcome == "ok", found.record.reason
    of_rank_0 = found.steps[found.steps["rank"] == 0].sort_values("step")["step_time_s"]
    ours = 64 * ranks / of_rank_0.iloc[10:].mean()  # rank 0 logs, and its first window does not count
    differences = {}
    for name, kind in LOGS.items():
        (path,) = out.rglob(name)
        given = Given(devices=ranks, batch=64 * ranks, per=None if kind in OWN_SCOPE else "all")
        (log,) = read_log(path, given)
        run = derive(log, given)
        assert (log.kind, run.counts.sum()) == (kind, 69)
        differences[kind] = run.throughput / ours - 1
    print("\n".join(f"{kind}, {ranks} ranks: {by:+.2%}" for kind, by in differences.items()))
    assert max(map(abs, differences.values())) < 0.02


OWN_SCOPE = ("torchtitan console log", "nanotron console log", "DeepSpeed console log", "MLPerf log")
"""Formats that say what their throughput belongs to."""
