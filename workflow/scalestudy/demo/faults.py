"""The faults, each a change of a study that the diagnosis must name, and control studies without a fault.

Most faults are settings. Faults that no setting can cause are injected into the ranks (`injected`, demo/rank.py).
They are recorded in the spec of the run, so that nobody takes it for a real measurement.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from scalestudy.study.spec import WORKER

FAULT = "SCALESTUDY_FAULT"
TASK = "task"

IMAGES = {"type": "synthetic-images", "samples": 8192, "size": 8, "classes": 10, "on_device": False}
VECTORS = {"type": "synthetic-vectors", "samples": 32768, "features": 64, "classes": 10, "on_device": False}
CONVNET = {"type": "convnet", "channels": 64, "num_layers": 4}
NORMED = CONVNET | {"norm": "batch"}
SGD = {"type": "sgd", "learning_rate": 0.01}


def mlp(hidden_dim: int, num_layers: int) -> dict[str, Any]:
    return {"type": "mlp", "hidden_dim": hidden_dim, "num_layers": num_layers}


def task(model: dict[str, Any], data: dict[str, Any], batch_size: int, **more: Any) -> dict[str, Any]:
    """A workload that is measured for its step times only, with weak scaling."""
    workload = {"model": model, "data": data, "optimizer": SGD, "batch_size": batch_size, "epochs": 0}
    return workload | {"scaling": ["weak"]} | more


CLEAN = task(CONVNET, IMAGES, 64)
SMALL = task(mlp(256, 3), VECTORS, 32)
DEEP = task(mlp(192, 24), VECTORS, 128)
WIDE = task(mlp(1024, 8), VECTORS, 32)


@dataclass(frozen=True)
class Fault:
    """A fault, and the cause that a diagnosis must name first; the cause `healthy` means no fault."""

    name: str
    about: str
    cause: str
    workload: dict[str, Any] = field(default_factory=lambda: CLEAN)
    both: dict[str, Any] = field(default_factory=dict)
    """Options of both `single` and `ddp`."""
    ddp: dict[str, Any] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    injected: bool = False
    link: str = ""
    """Rate that the link between ranks is throttled to, as written for tc, in `mbit`."""
    variant: str = "ddp"
    """The variant that is diagnosed."""
    measure: dict[str, Any] = field(default_factory=dict)
    probed: bool = True
    """Whether communication is probed. Causes that do not rest on probes save that time."""
    more: dict[str, Any] = field(default_factory=dict)
    """Variants in addition to `single` and `ddp`."""

    @property
    def link_bytes_per_s(self) -> float:
        """Bytes per second of the throttled link."""
        return float(self.link.removesuffix("mbit")) * 1e6 / 8

    def study(self, *, repeats: int = 3, seed: int = 1, injected: bool = False) -> dict[str, Any]:
        """The study, as the content of its file: one process and two ranks on this host.

        injected: inject the fault into the ranks even if there is another way.
        """
        environment = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}
        if injected or self.injected:
            environment |= {WORKER: "scalestudy.demo.rank", FAULT: self.name}
        return {
            "study": f"demo-{self.name}",
            "description": self.about,
            "seed": seed,
            "repeats": repeats,
            "time_limit_min": 5,
            "scales": ["1x2"],
            "variants": {
                "single": {"strategy": "single"} | self.both,
                "ddp": {"strategy": "ddp", "base": "single"} | self.both | self.ddp,
                **{name: {"base": "single"} | variant for name, variant in self.more.items()},
            },
            "workloads": {TASK: deepcopy(self.workload)},
            "host": {"device": "cpu", "cores_per_rank": 1} | self.host | {"environment": environment},
            "measure": {"half_width": 0.03, "max_steps": 100, "min_steps": 40, "probe_steps": 6}
            | {"probe_rounds": 3 if self.probed else 0}
            | self.measure,
        }


FAULTS = (
    Fault(
        "slow-loader",
        "Every sample takes 200 us to read, and the training loop reads without worker processes.",
        "input-bound",
        CLEAN | {"data": IMAGES | {"sample_delay_us": 200}},
        probed=False,
    ),
    Fault(
        "oversubscribed",
        "Each rank runs as many threads as the host has cores.",
        "oversubscribed",
        host={"pin": False, "cores_per_rank": 2},
        measure={"max_steps": 50},
        probed=False,  # probes are slow if threads wait for each other's time slices
    ),
    Fault(
        "slow-log",
        "The loss is logged at every step, to a file that is synced to disk before training continues.",
        "sync-logging",
        SMALL | {"batch_size": 256},
        both={"log_every_steps": 1},
        injected=True,
        probed=False,
    ),
    Fault(
        "frequent-checkpoints",
        "A checkpoint of model and optimizer is written every second step.",
        "checkpointing",
        WIDE,
        both={"checkpoint_every_steps": 2},
        probed=False,
    ),
    Fault("slow-rank", "The last rank sleeps in every backward pass.", "straggler", injected=True),
    Fault(
        "slow-link",
        "All traffic between ranks goes over a link of 240 Mbit/s.",
        "transport",
        task(mlp(512, 4), VECTORS, 256),
        link="240mbit",
    ),
    Fault(
        "no-no-sync",
        "Eight micro-batches per step, with synchronisation after each one.",
        "accum-no-nosync",
        task(mlp(512, 4), VECTORS, 256),
        both={"accumulation_steps": 8},
        ddp={"accumulation_sync": True},
        probed=False,
    ),
    Fault(
        "unused-parameters",
        "DDP searches for parameters without a gradient, although there are none.",
        "unused-params",
        DEEP,
        ddp={"ddp": {"find_unused_parameters": True}},
        probed=False,
    ),
    Fault(
        "tiny-buckets",
        "Gradients are sent in buckets of 10 kB.",
        "bucket-size",
        DEEP,
        ddp={"ddp": {"bucket_cap_mb": 0.01}},
    ),
    Fault(
        "huge-bucket",
        "All gradients are sent in one bucket, after the whole backward pass.",
        "bucket-size",
        WIDE,
        ddp={"ddp": {"bucket_cap_mb": 1000}},
    ),
    Fault(
        "needless-sharding",
        "FSDP for a model that fits many times over.",
        "fsdp-overhead",
        DEEP,
        variant="fsdp",
        more={"fsdp": {"strategy": "fsdp"}},
        probed=False,
    ),
    Fault(
        "too-large-for-ddp",
        "A model that does not fit on every rank.",
        "ddp-oom",
        task(mlp(2048, 12), VECTORS, 16),
        measure={"max_steps": 40, "min_steps": 20},
        host={"memory_limit_gib": 0.75},
        more={"fsdp": {"strategy": "fsdp"}},
        probed=False,
    ),
    Fault(
        "sync-batch-norm",
        "Every normalisation layer computes its statistics over both ranks.",
        "sync-bn",
        task(NORMED | {"channels": 16, "num_layers": 8}, IMAGES, 32),
        ddp={"ddp": {"sync_batch_norm": True}},
    ),
    Fault(
        "large-buffers",
        "A mask of 8 MiB is a buffer that DDP broadcasts at every step.",
        "buffers",
        injected=True,
    ),
    Fault(
        "uneven-batches",
        "The last rank has 1.5 times as many samples as the first.",
        "imbalance",
        injected=True,
        probed=False,
    ),
    Fault("small-batch", "The batch is so small that a step computes almost nothing.", "comm-bound", SMALL),
    Fault(
        "other-arithmetic",
        "Two ranks in bf16, one process in fp32.",
        "confounded",
        ddp={"precision": "bf16"},
        probed=False,
    ),
    Fault(
        "leak",
        "Every step keeps a tensor in memory.",
        "memory-growth",
        injected=True,
        measure={"block_steps": 10, "max_steps": 200, "half_width": 0.001},  # a slope needs several blocks
        probed=False,
    ),
)
CONTROLS = (
    Fault("clean-convnet", "A convolutional network, 64 images per rank.", "healthy"),
    Fault("clean-large-batch", "The same network, 128 images per rank.", "healthy", CLEAN | {"batch_size": 128}),
    Fault("clean-batch-norm", "The network with batch normalisation.", "healthy", CLEAN | {"model": NORMED}),
    Fault(
        "clean-narrow",
        "The network at half its width, 256 images per rank.",
        "healthy",
        task(CONVNET | {"channels": 32}, IMAGES, 256),
    ),
    Fault(
        "clean-text",
        "A Transformer encoder on texts of 64 tokens.",
        "healthy",
        task(
            {"type": "text-classifier", "d_model": 64, "heads": 4, "num_layers": 2},
            {"type": "synthetic-tokens", "samples": 4096, "sequence_length": 64, "vocabulary": 500, "classes": 2}
            | {"on_device": False},
            64,
        ),
    ),
    Fault(
        "clean-accumulation",
        "Four micro-batches per step, with synchronisation after the last one.",
        "healthy",
        CLEAN | {"batch_size": 256},
        both={"accumulation_steps": 4},
    ),
)
ALL = {fault.name: fault for fault in (*FAULTS, *CONTROLS)}
