"""Files that the libraries themselves write, read back. A library that is not installed is skipped."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.registry.codes import Limit


def imported(path: Path, **given: object) -> ImportedRun:
    said = Given(**given)  # type: ignore[arg-type]
    (log,) = read_log(path, said)
    return derive(log, said)


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    board: Any = pytest.importorskip("torch.utils.tensorboard")
    writer = board.SummaryWriter(tmp_path)
    for row in range(1, 41):
        at = 1.7e9 + row * 11.7
        writer.add_scalar("throughput(tps)", 700.0, row * 10, walltime=at)
        writer.add_scalar("loss_metrics/global_avg_loss", 5.0, row * 10, walltime=at)
        writer.add_scalar("memory/max_active(GiB)", 40.0, row * 10, walltime=at)
    writer.close()
    (file,) = tmp_path.glob("events.*")
    run = imported(file, devices=8, per="device", batch=6552)
    assert run.log.kind == "TensorBoard event file"
    assert (run.steps_per_row, run.unit) == (10, "tokens")
    assert run.step_s == pytest.approx(6552 / 5600)
    content = file.read_bytes()
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content[: len(content) // 2])
    assert len(imported(damaged, devices=8, per="device", batch=6552).step_time_s) < 30
    damaged.write_bytes(content[:60])
    with pytest.raises(ValueError, match="steps with scalars; the file is truncated"):
        imported(damaged, devices=8)
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 0xFF
    damaged.write_bytes(bytes(flipped))
    with pytest.raises(ValueError, match=r"damaged, byte \d+: a damaged record"):
        imported(damaged, devices=8, per="device", batch=6552)


def test_tensorboard_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "events.out"
    file.write_bytes(b'\x18\0\0\0\0\0\0\0\xa3\x7fK"\tbrain.Event:2' + bytes(40))
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    with pytest.raises(
        ValueError, match="which the package tensorboard reads; install it: pip install tensorboard"
    ):
        imported(file)


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow: Any = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    for devices in (1, 4):
        with mlflow.start_run():
            mlflow.log_params({"world_size": devices, "global_batch_size": 16 * devices, "optimizer": "adam"})
            for step in range(30):
                at = int(1.7e12 + step * 100)
                mlflow.log_metric("train/samples_per_second", 160.0 * devices, step=step, timestamp=at)
                mlflow.log_metric("loss", 1.0, step=step, timestamp=at)
    said = Given(per="all")
    runs = sorted((derive(log, said) for log in read_log(tmp_path / "mlruns", said)), key=lambda run: run.devices)
    assert [(run.devices, run.global_batch) for run in runs] == [(1, 16), (4, 64)]
    assert [run.step_s for run in runs] == pytest.approx([0.1, 0.1])
    metric = next((tmp_path / "mlruns").rglob("metrics/loss"))
    metric.write_text(metric.read_text() + "not a metric\n")
    with pytest.raises(ValueError, match=r"loss, line 31: not 'timestamp value step'"):
        read_log(tmp_path / "mlruns", said)


def test_mlperf_logging(tmp_path: Path) -> None:
    mllog: Any = pytest.importorskip("mlperf_logging.mllog")
    path = tmp_path / "mlperf.txt"
    mllog.config(filename=str(path))
    logger, done = mllog.get_mllogger(), 0
    logger.event(key="global_batch_size", value=64)
    logger.start(key="run_start")
    begun = time.perf_counter()
    for _ in range(8):
        logger.start(key="block_start", metadata={"samples_count": done})
        time.sleep(0.05)
        done += 640
        rate = done / (time.perf_counter() - begun)
        logger.event(key="tracked_stats", value={"throughput": rate}, metadata={"step": done})
        logger.end(key="block_stop", metadata={"samples_count": done})
    logger.end(key="run_stop", metadata={"status": "success"})
    run = imported(path, devices=8)
    assert (run.global_batch, run.steps_per_row) == (64, 10)
    assert 0.004 < run.step_s < 0.02


def test_lightning(tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch")
    lightning: Any = pytest.importorskip("lightning")
    logger = pytest.importorskip("lightning.pytorch.loggers").CSVLogger(tmp_path)

    class Model(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.last = torch.nn.Linear(4, 1), time.perf_counter()

        def training_step(self, batch: Any, _: int) -> Any:
            self.log("step_time_s", time.perf_counter() - self.last)
            self.last = time.perf_counter()
            time.sleep(0.01)
            return self.layer(batch[0]).mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.01)

    trainer = lightning.Trainer(
        max_epochs=1,
        logger=logger,
        log_every_n_steps=1,
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(
        Model(), torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(320, 4)), batch_size=8)
    )
    (file,) = tmp_path.rglob("metrics.csv")
    run = imported(file, devices=1, batch=8)
    assert run.log.kind == "Lightning metrics.csv"
    assert len(run.step_time_s) == 40
    assert 0.01 < run.step_s < 0.2


def test_hugging_face(tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def forward(self, x: Any = None, labels: Any = None) -> Any:
            time.sleep(0.01)
            out = self.layer(x)
            return {"loss": ((out - labels) ** 2).mean(), "logits": out}

    class Data(torch.utils.data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 160

        def __getitem__(self, index: int) -> Any:
            return {"x": torch.ones(4), "labels": torch.ones(1)}

    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        per_device_train_batch_size=8,
        num_train_epochs=1,
        logging_steps=5,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
    )
    trainer = transformers.Trainer(Model(), arguments, train_dataset=Data())
    ended = trainer.train()
    trainer.save_state()
    run = imported(tmp_path / "trainer_state.json", devices=1)
    assert run.global_batch == 8
    assert run.total_steps == 20
    assert run.step_s == pytest.approx(ended.metrics["train_runtime"] / 20, rel=0.02)
    assert Limit.WHOLE_RUN in run.limits


def test_pytorch_profiler(tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch")
    profiler = torch.profiler
    times = []
    schedule = profiler.schedule(wait=1, warmup=1, active=10)
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], schedule=schedule) as prof:
        for _ in range(12):
            begun = time.perf_counter()
            torch.ones(8, 8).sum()
            time.sleep(0.01)
            times.append(time.perf_counter() - begun)
            prof.step()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    run = imported(path, devices=1, batch=4)
    assert len(run.step_time_s) == 10
    assert run.step_s >= min(times)
    assert run.step_s < 3 * max(times) + 0.1
