"""The columns of a run's own tables; a test compares them with those that record/observation.py writes."""

from scalestudy.registry.column import Column
from scalestudy.registry.points import PARTS, SPLIT

_PLACE = (
    Column("rank", "rank, from 0"),
    Column("block", "number of the block of steps, from 0"),
)
_STEP = Column("step", "number of the step, from 0; probes follow the training")
_PHASE = Column("phase", "warmup, measured or tail of training; probe-* for the probes after it")

STEPS: tuple[Column, ...] = (
    _PLACE[0],
    Column("epoch", "epoch, from 1; 0 for a probe"),
    _PLACE[1],
    _STEP,
    _PHASE,
    *(Column(f"{part}_s", f"{name} in this step", "s") for part, (name, _) in PARTS.items() if part not in SPLIT),
    Column("step_time_s", "step time: the sum of its parts", "s"),
    Column("backward_compute_time_s", "computation of the backward pass, by DDP's logger, in probes", "s"),
    Column("communication_span_s", "from the first to the last communication, by DDP's logger, in probes", "s"),
    Column(
        "communication_overlap_s",
        "part of this span that overlaps with the backward computation, by DDP's logger, in probes",
        "s",
    ),
    Column("samples", "samples of this rank"),
    Column("loss", "training loss of this rank"),
)
BLOCKS: tuple[Column, ...] = (
    *_PLACE,
    Column("phase", "phase of its last step"),
    Column("first_step", "number of its first step"),
    Column("steps", "steps of the block"),
    Column("resident_gib", "resident memory of the process at its end", "GiB"),
    Column("allocated_gib", "memory allocated on the device at its end", "GiB"),
    Column("peak_allocated_gib", "peak of the memory allocated on the device", "GiB"),
    Column("reserved_gib", "memory reserved by torch's allocator at its end", "GiB"),
    Column("allocation_retries", "times that torch's allocator freed its cache and retried an allocation"),
    Column(
        "core_wait_share", "share of its time in which the rank waited for a core in use by others; turns only"
    ),
    Column(
        "enqueue_first_step_s", "host time to queue its first step; only for devices that work asynchronously", "s"
    ),
    Column("gpu_power_w", "power of the GPU at its end", "W"),
    Column("gpu_sm_clock_mhz", "clock of the GPU's multiprocessors at its end", "MHz"),
    Column("gpu_temperature_c", "temperature of the GPU at its end", "°C"),
    Column("cpu_clock_mhz", "mean clock of the rank's cores at its end", "MHz"),
    Column("gpu_slowdown_reasons", "reasons for which the GPU's clock is limited at its end: NVML's bit mask"),
    Column("gpu_energy_j", "energy of the GPU since its driver was loaded, at its end; the whole board", "J"),
    Column(
        "cpu_energy_j",
        "energy of all processor packages of the host (RAPL) since the rank began, at its end; one rank per host",
        "J",
    ),
)
BUCKETS: tuple[Column, ...] = (
    *_PLACE,
    _STEP,
    Column("bucket", "number of the gradient bucket in its step, from 0"),
    Column("bytes", "gradients in the bucket", "bytes"),
    Column("ready_s", "time at which its last gradient was ready, by the host's clock", "s"),
    Column("done_s", "time at which it was reduced over all ranks, by the host's clock", "s"),
)
CALLS: tuple[Column, ...] = (
    _PLACE[0],
    Column("collective", "all-reduce, all-gather, reduce-scatter or broadcast"),
    Column("bytes", "size of the message", "bytes"),
    Column("call", "number of the call, from 0"),
    Column("time_s", "duration of the call on this rank; on a GPU the time per queued call, by its clock", "s"),
    Column("enqueue_s", "host time to launch the call; GPUs only", "s"),
)
EPOCHS: tuple[Column, ...] = (
    Column("epoch", "epoch, from 1"),
    Column("epoch_time_s", "training time of the epoch, validation excluded, maximum over ranks", "s"),
    Column("elapsed_s", "time since training began, maximum over ranks", "s"),
    Column("samples", "samples of the epoch, total of all ranks"),
    Column("train_loss", "mean training loss over the epoch and the ranks"),
    Column("validation_loss", "loss on held-out data after the epoch"),
    Column("validation_accuracy", "accuracy on held-out data after the epoch"),
)
