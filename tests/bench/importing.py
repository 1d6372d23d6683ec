"""Speed and memory of the readers of logs, each on a file of its format.

    python -m bench.importing --mb 100

Each file is read in a process of its own, from a warm cache. Speed is file size over processor time, which other
work on the machine changes less than wall time. Peak memory is that of the process, with Python and numpy. The
bars: 50 MB/s for text by lines, 5 MB/s for JSON, traces and event files, 500 MB of memory for a file of 500 MB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

READ = """
import json, resource, sys
from pathlib import Path
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
given = Given(devices=8)
def busy():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
before = busy()
(log,) = read_log(Path(sys.argv[1]), given)
read = busy() - before
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(json.dumps({"kind": log.kind, "rows": len(log.columns["step"]), "read_s": read,
    "peak_mb": int(peak) * 1024 / 1e6}))
"""

NOISE = (
    "[rank0]:NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
    "[rank0]:2025-06-04 08:51:48,074 - root - INFO - Finished loading a shard of the data set in 0.12 s\n"
)
LINES = {
    "Megatron-LM": " [2025-01-31 12:00:00] iteration {step:8d}/ 5000000 | consumed samples: {step:12d} |"
    " elapsed time per iteration (ms): 100.5 | throughput per GPU (TFLOP/s/GPU): 401.3 |"
    " learning rate: 1.500000E-04 | global batch size:    64 | lm loss: 3.250000E+00 | loss scale: 1.0 |"
    " grad norm: 1.500 | number of skipped iterations:   0 | number of nan iterations:   0 |\n",
    "torchtitan": "[rank0]:[titan] 2025-10-30 14:32:58,897 - root - INFO - step: {step}  loss:  8.1661"
    "  grad_norm:  3.6855  memory:  2.47GiB(3.12%)  tps: 4,096  tflops: 1.90  mfu: 0.19%\n",
    "DeepSpeed": "[2023-11-07 01:55:23,714] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/global_step={step},"
    " RunningAvgSamplesPerSec=25.025771473496132, CurrSamplesPerSec=25.704280480541442, MemAllocated=4.32GB,"
    " MaxMemAllocated=38.49GB\n",
    "nanotron": "10/01/2024 12:00:00 [INFO|DP=0|PP=0|TP=0|ip-26-0-160-225]: iteration: {step} / 5000000 |"
    " consumed_tokens: 4.1M | elapsed_time_per_iteration_ms: 1.02K | tokens_per_sec: 1.03M |"
    " tokens_per_sec_per_gpu: 129K | global_batch_size: 256 | lm_loss: 10.5 | lr: 0.0003 | grad_norm: 1.2\n",
    "OLMo": "2025-12-12 11:05:05.850\tnode-03:0\tolmo.train:979\tINFO\t[step={step}/5000000,epoch=0]\n"
    "    train/CrossEntropyLoss=2.919\n    throughput/total_tokens=4,194,304\n"
    "    throughput/device/tokens_per_second=68,289\n",
    "fairseq": '2021-03-08 12:43:15 | INFO | train_inner | {{"epoch": 1, "update": 0.5, "loss": "19.351", "wps":'
    ' "5210.9", "ups": "0.31", "wpb": "16384", "bsz": "8", "num_updates": "{step}", "lr": "0", "wall": "804"}}\n',
    "MMEngine": "2022/08/22 15:51:56 - mmengine - INFO - Epoch(train) [1][{step}/9000000]  lr: 1.0000e-03"
    "  eta: 0:11:29  time: 0.0354  data_time: 0.0077  memory: 392  loss: 2.7734\n",
    "nanoGPT": "iter {step}: loss 4.0863, time 561.94ms, mfu 31.20%\n",
    "any trainer": "2025-03-02 05:16:20,348 INFO | step {step} | loss: 2.7734 | lr: 1.0e-03 | step_time: 354.0 ms"
    " | tokens/s: 46811\n",
    "ImageNet example": "Epoch: [0][{step}/9000000]\tTime  0.500 ( 0.500)\tData  0.001 ( 0.104)\t"
    "Loss 6.0e+00 (6.1e+00)\tAcc@1   0.00 (  0.00)\tAcc@5   0.33 (  0.33)\n",
    "durations": "step {step} | loss 2.7734 | lr 1.0e-03 | step time: 0:00:01.5 | eta: 1:02:03\n",
    "rows over lines": "[batch={step}/9000000]:\n\t Train time/batch: 2\n\t Train loss/train/total: 11.2\n"
    "\t Train throughput/samples_per_sec: 57.6\n\t Train throughput/device/samples_per_sec: 7.2\n",
    "progress bars": " 30%|###   | {step}/9000000 [{passed}<9:59:59,  1.00it/s, loss=2.77]\n",
    "CSV": "{step},100.5,640.0,0.00015,3.25,1.5,a note on this step that nobody reads\n",
    "MLPerf": ':::MLLOG {{"namespace": "", "time_ms": 1719843792116, "event_type": "POINT_IN_TIME",'
    ' "key": "tracked_stats", "value": {{"throughput": 640.0}}, "metadata": {{"file": "/workspace/train.py",'
    ' "lineno": 1850, "step": {step}}}}}\n',
    "DLLogger": 'DLLL {{"timestamp": "1727463426.98", "datetime": "2024-09-27 18:57:06.984522",'
    ' "elapsedtime": "1645.1", "type": "LOG", "step": {step},'
    ' "data": {{"loss": 7.89, "lr": 0.0001, "throughput (samples/s)": 640.0}}}}\n',
    "Kineto": '{{"ph": "X", "cat": "cpu_op", "name": "aten::add_", "pid": 1, "tid": 1, "ts": 4817451334533.239,'
    ' "dur": 5.5, "args": {{"External id": {step}, "Record function id": 0, "Ev Idx": 0}}}},\n',
    "trainer_state.json": '{{"epoch": 0.5, "grad_norm": 1.5, "learning_rate": 0.0001, "loss": 2.5,'
    ' "step": {step}}},\n',
}
WIDE = "CSV, every 20th row too wide"
CELLS = "CSV, cells over several lines"
LINES[CELLS] = LINES["CSV"].replace("a note on", '"a note\nof two lines, on').replace("reads\n", 'reads"\n')
LINES[WIDE] = LINES["CSV"] * 19 + LINES["CSV"].replace("\n", ",and more\n")
STEPS = "".join(f'{{"ph": "X", "name": "ProfilerStep#{step}", "ts": 1.5, "dur": 1e5}},\n' for step in range(20))
HEADS = {
    "CSV": "step,step_time_ms,samples/s,lr,loss,grad_norm,note\n",
    "Kineto": '{"schemaVersion": 1, "traceEvents": [\n' + STEPS,
    "trainer_state.json": '{"best_metric": null, "global_step": 100, "log_history": [\n',
}
HEADS[WIDE] = HEADS[CELLS] = HEADS["CSV"]
ENDED = '{"train_runtime": 10.05, "train_samples_per_second": 636.8, "train_steps_per_second": 9.95}'
TAILS = {"Kineto": '{"ph": "M", "name": "end"}]}\n', "trainer_state.json": ENDED + "]}\n"}
CONSOLE = (
    "Megatron-LM",
    "torchtitan",
    "DeepSpeed",
    "nanotron",
    "OLMo",
    "fairseq",
    "MMEngine",
    "nanoGPT",
    "any trainer",
    "ImageNet example",
    "durations",
    "rows over lines",
    "progress bars",
)
BARS_MB_PER_S = dict.fromkeys((*CONSOLE, "CSV", WIDE, CELLS), 50) | {"fairseq": 5}
"""JSON within the lines of a console log has the bar of JSON."""


def write(path: Path, name: str, size: float) -> None:
    """A file of this format. Console logs have two other lines in front of each row."""
    noise = NOISE if name in CONSOLE else ""
    with path.open("w") as file:
        file.write(HEADS.get(name, ""))
        step = 0
        while file.tell() < size:
            file.write(
                "".join(
                    noise + LINES[name].format(step=at, passed=f"{at // 3600}:{at // 60 % 60:02d}:{at % 60:02d}")
                    for at in range(step, step + 10_000)
                )
            )
            step += 10_000
        file.write(TAILS.get(name, ""))


def write_events(path: Path, size: float) -> Path:
    """An event file of TensorBoard, by its own writer."""
    from torch.utils.tensorboard import SummaryWriter

    writer, step = SummaryWriter(path), 0
    while sum(file.stat().st_size for file in path.glob("events*")) < size:
        for _ in range(20_000):
            step += 1
            writer.add_scalar("train/samples_per_second", 640.0, step, walltime=1.7e9 + step * 0.1)
            writer.add_scalar("train/loss", 2.5, step, walltime=1.7e9 + step * 0.1)
        writer.flush()
    writer.close()
    return next(path.glob("events*"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mb", type=float, default=100)
    options.add_argument("--formats", nargs="*", default=[*LINES])
    options.add_argument("--events", action="store_true", help="also event files of TensorBoard")
    given = options.parse_args()
    print("| format | file (MB) | rows | MB/s | bar | peak memory (MB) |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in [*given.formats, *(["TensorBoard"] if given.events else [])]:
            path = Path(folder) / "log"
            if name == "TensorBoard":
                path = write_events(Path(folder) / "events", min(given.mb, 20) * 1e6)
            else:
                write(path, name, given.mb * 1e6)
            size = path.stat().st_size / 1e6
            words = [sys.executable, "-c", READ, str(path)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{name}: {done.stderr}")
            row = json.loads(done.stdout.splitlines()[-1])
            speed, bar = size / row["read_s"], BARS_MB_PER_S.get(name, 5)
            print(
                f"| {name} | {size:.0f} | {row['rows']} | {speed:.0f} | {bar} | {row['peak_mb']:.0f} |", flush=True
            )


if __name__ == "__main__":
    main()
