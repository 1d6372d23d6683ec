"""The columns of runs.csv, which has a row for each run."""

from collections.abc import Iterator

from scalestudy.registry.column import Column
from scalestudy.registry.points import PARTS, SPLIT

WHERE = (
    Column("workload", "name of the workload", text=True),
    Column("variant", "name of the variant", text=True),
    Column("nodes", "number of nodes"),
    Column("devices_per_node", "devices, and ranks, of each node"),
    Column("world_size", "number of ranks"),
    Column("batch_per_rank", "samples per step of one rank"),
    Column("global_batch", "samples per step of all ranks"),
)
KNOBS = (
    Column("strategy", "single, ddp, fsdp or other"),
    Column("precision", "arithmetic of forward and backward: fp32, tf32, bf16 or fp16"),
    Column("micro_batch", "samples per micro-batch of one rank"),
    Column("accumulation_steps", "micro-batches per optimizer step"),
    Column("compile", "whether torch.compile was on"),
    Column("activation_checkpointing", "whether activations were recomputed in the backward pass"),
    Column("settings", "settings of the variant that differ from the defaults, as in a study's file"),
)
PLACE = (
    Column("device", "cpu, or the name of the GPU"),
    Column("hosts", "hosts of the ranks", text=True),
    Column("torch", "version of torch"),
    Column("threads_per_rank", "threads of torch's intra-op pool, maximum over ranks"),
    Column(
        "threads_per_core",
        "threads of all ranks of a host divided by the cores that they may use, maximum over hosts",
    ),
)
MODEL = (
    Column("parameters", "trained parameters"),
    Column("gradient_bytes", "gradients synchronised per step", "bytes"),
    Column("unused_parameter_bytes", "parameters without a gradient, as DDP counts them", "bytes"),
    Column("buffer_bytes", "buffers of the model, such as running statistics", "bytes"),
    Column("synchronised_norms", "normalisation layers with statistics over all ranks"),
    Column("bytes_sent_per_step", "data sent by a rank per step, according to its strategy's algorithm", "bytes"),
    Column("flops_per_sample", "floating-point operations per sample, forward and backward", "FLOP"),
)
MEMORY = (
    *(
        Column(f"{statistic}_{kind}_gib", f"{statistic} {kind} memory of a rank, maximum over ranks", "GiB")
        for kind in ("resident", "allocated", "reserved")
        for statistic in ("peak", "mean")
    ),
    Column("allocation_retries", "times that torch's CUDA allocator freed its cache and retried an allocation"),
    Column(
        "memory_growth_gib_per_1000_steps", "slope of memory over steady steps", "GiB per 1000 steps", "interval"
    ),
    Column("memory_growth_rank", "rank with the largest memory growth"),
    Column("memory_growth_kind", "kind of memory that grows: allocated or resident"),
)
STEADINESS = (
    Column("steadiness", "steady, level_change or two_modes: whether one mean describes the steady steps"),
    Column("level_change", "relative change of the step time at a permanent change of level"),
    Column("level_changed_after_steps", "steady steps before that change"),
    Column("fast_mode_s", "step time of the fast mode, if there are two modes", "s"),
    Column("slow_mode_s", "step time of the slow mode", "s"),
    Column("slow_mode_share", "share of the steps in the slow mode"),
)


def _probes() -> Iterator[Column]:
    for name, meaning in {
        "differential": "step time with gradient synchronisation minus step time without it, mean over ranks",
        "exposed_span": "communication that does not overlap with backward computation, by DDP's logger",
        "interference": "slowdown of the backward computation by the communication that it overlaps with",
        "remainder": "differential minus exposed communication and interference",
        "imbalance": "slowest rank's own work minus the mean over ranks, without synchronisation",
        "hook_cost": "overhead of the bucket timestamps",
        "exposed_hook": "exposed communication by the timestamps of gradient buckets",
        "wait_time": "exposed communication by timestamps: waiting for the slowest rank",
        "transfer_time": "exposed communication by timestamps: from the slowest rank being ready to the end of"
        " the last bucket",
        "hook_difference": "exposed communication by timestamps minus the value by DDP's logger",
    }.items():
        yield Column(f"{name}_s", meaning, "s", "interval")


LINKS = (
    Column("slowest_link", "nvlink, pcie or none: slowest hop of the best ring through the GPUs, inside a node"),
    Column("slowest_link_name", "description of that hop; none where it is not known"),
    Column("link_bus_gib_per_s", "bus bandwidth that NCCL assumes for that hop", "GiB/s"),
    Column("nccl_transport", "p2p, shm, net, net_ib, net_socket or none: slowest transport that NCCL reported"),
    Column("nccl_interfaces", "NCCL's interfaces for that transport, if it is a network; otherwise none"),
)
COMMUNICATION = (
    *_probes(),
    Column("methods", "agree, disagree or not_compared_*: whether the methods of measuring communication agree"),
    Column(
        "late_rank",
        "rank whose gradients are last for most buckets, or that is slowest in most blocks or steps (late_by)",
    ),
    Column("late_share", "share of the buckets for which it is last"),
    Column("lateness_s", "delay of its gradients relative to the mean of the other ranks", "s"),
    Column(
        "late_by",
        "buckets, blocks (of steps without synchronisation), steps (outside of the backward pass) or none: the"
        " measurement that identified the late rank",
    ),
    Column("buckets", "gradient buckets per step"),
    Column("all_reduce_latency_s", "latency of the all-reduce on the idle network, fitted", "s"),
    Column("buffer_broadcast_s", "broadcast of the model's buffers on the idle network", "s"),
    Column("all_reduce_gib_per_s", "bandwidth of the all-reduce on the idle network, fitted", "GiB/s"),
    Column("all_reduce_bus_gib_per_s", "bus bandwidth of the all-reduce at the largest message size", "GiB/s"),
    Column("all_reduce_largest_bytes", "size of that message", "bytes"),
    *LINKS,
    Column(
        "all_reduce_small_share",
        "time of an all-reduce of 1/8 of the largest message divided by the time of the largest",
    ),
)
SCRIPT = (
    Column("wrapper", "none, ddp or fsdp: wrapper of the model"),
    Column("seen", "settings of a script as far as they were detected, by the names of a variant's keys, as JSON"),
    Column(
        "checkpoint_apart_s",
        "time of checkpoints per step of a script; steps with a checkpoint are left out of the step time",
        "s",
    ),
)
RANKS = (
    Column("heaviest_rank", "rank with the most samples"),
    Column("samples_excess", "relative excess of its samples over the mean rank"),
    Column("numa_ranks", "ranks with cores on several NUMA nodes, as a JSON list"),
    Column(
        "far_ranks",
        "ranks on GPUs with cores off the socket of their GPU, as a JSON list of [rank, GPU, sockets of the cores,"
        " socket of the GPU]",
    ),
    Column(
        "numa_excess_s",
        "additional host work per step on ranks of numa_ranks and far_ranks, relative to the other ranks",
        "s",
    ),
)
NOISE = (
    Column(
        "gradient_noise_scale_samples",
        "batch at which the noise of a gradient equals the gradient, at the end of the training: gradient_variance"
        " over gradient_square; inf where no batch shows the gradient, or for an unbounded upper limit",
        "samples",
        "interval",
    ),
    Column("gradient_variance", "trace of the covariance of the gradients of single samples, mean over runs"),
    Column("gradient_square", "squared norm of the mean gradient, mean over runs; may be below 0 by chance"),
    Column(
        "trial_noise_scale_samples",
        "the same, estimated from trials of larger batches from a checkpoint, at equal samples; inf where they"
        " need no additional samples to reach each loss, 0 where one diverged",
        "samples",
    ),
)
PARTS_OF_A_STEP = tuple(
    Column(f"{part}_s", f"{name}, mean over steady steps and ranks", "s")
    for part, (name, _) in PARTS.items()
    if part not in SPLIT
)

ENERGY = (
    Column(
        "energy_per_sample_j",
        "energy of all GPUs of the run per sample, whole boards, from the first to the last reading in steady"
        " blocks",
        "J",
    ),
    Column(
        "cpu_energy_per_sample_j",
        "energy of all processor packages of its hosts (RAPL) per sample, including other work on them",
        "J",
    ),
)
SLOWDOWNS = (
    Column("thermal_slowdown_share", "share of readings in which heat limited a GPU's clock, maximum over ranks"),
    Column(
        "power_cap_share", "share of readings in which a power limit limited a GPU's clock, maximum over ranks"
    ),
    Column(
        "hardware_slowdown_share",
        "share of readings with NVML's HW slowdown, for heat or for power, maximum over ranks",
    ),
)

SPOILED = (
    Column(
        "spoiled",
        "none, unknown where the host was not monitored, or the disturbances while the run trained, separated by"
        " blanks: other_load, stolen_time, throttled, swapped, clock_set, shared_gpu",
    ),
    Column("spoiled_after", "the same for the time after the training: probes, and turns of the baseline"),
    Column("others_cores", "processor time of other processes on the ranks' CPUs, maximum over nodes", "cores"),
    Column("stolen_share", "share of the time of these CPUs that a hypervisor gave to other machines (steal)"),
    Column("memory_stall_share", "share of the time in which all tasks of the host waited for memory"),
    Column("cpu_throttled_share", "share of the time in which heat throttled a CPU"),
    Column("clock_jump_s", "change of the system clock by being set during the run", "s"),
    Column("gpu_others", "other processes on the run's GPUs, maximum over readings"),
    Column("swapped_mib_per_s", "memory that the host swapped in and out", "MiB/s"),
)

RUNS: tuple[Column, ...] = (
    Column("run_id", "name of the run's folder", text=True),
    *WHERE,
    *KNOBS,
    Column("repeat", "number of the repeat, from 1"),
    Column("outcome", "ok, oom, diverged, timeout, failed, preempted, or unneeded for an unused reserve run"),
    Column("reason", "one sentence if the outcome is not ok"),
    *PLACE,
    Column("node_names", "nodes of the ranks, by the scheduler's names", text=True),
    Column("slurm_job", "id of the SLURM job that the run was part of"),
    Column("held_devices", "devices of that job, including those that the run left idle"),
    *MODEL,
    Column("steps", "steps of training, warm-up included"),
    Column("stopped_because", "why the run ended after this number of steps"),
    *MEMORY,
    Column("wall_time_s", "from the start of the processes to their end", "s"),
    Column("training_wall_time_s", "wall time of training with validation", "s"),
    Column("probe_wall_time_s", "wall time of probes and traces after the training", "s"),
    Column("record_sha256", "SHA-256 of run.json"),
    Column("protocol", "version of the measurement protocol"),
    Column("fingerprint", "hash of the measuring code"),
    Column("commit", "commit of the measuring code"),
    Column("dirty", "whether that code had uncommitted changes"),
    Column("started_at", "when the run was started"),
    Column(
        "limits",
        "what a run cannot show: imported, averaged, whole_run, printed, clock, tokens, rounded for imported runs;"
        " batch_unseen for a script whose number of samples was not seen; none for other runs",
    ),
    Column("warmup_steps", "steps dropped from the start"),
    Column("steady_steps", "steps after the warm-up"),
    Column("step_time_s", "step time of the slowest rank, mean over steady steps", "s"),
    *(
        Column(f"step_time_{name}_s", f"{meaning} of the steady steps, maximum over ranks", "s")
        for name, meaning in {"p50": "median", "p95": "95th percentile", "p99": "99th percentile"}.items()
    ),
    Column("step_time_cv", "coefficient of variation of the steady steps"),
    Column("step_time_half_width", "relative half-width of the interval of this run's mean"),
    *PARTS_OF_A_STEP,
    Column("rank_skew_s", "step time of the slowest rank minus the fastest rank's, mean over steps", "s"),
    *STEADINESS,
    Column("level_changed_at_step", "number of the step at which the level changed"),
    Column("throughput_samples_per_s", "samples per second of all ranks", "samples/s"),
    Column("backward_compute_time_s", "backward pass minus exposed communication", "s"),
    *COMMUNICATION,
    *RANKS,
    *SCRIPT,
    Column("memory_grows", "whether memory grows over the steady steps"),
    Column("all_reduce_enqueue_s", "host's time to launch the smallest all-reduce; GPUs only", "s"),
    Column(
        "enqueue_share",
        "host time to queue a block's first step, divided by a step's time on the device",
    ),
    *ENERGY,
    *SLOWDOWNS,
    *SPOILED,
    Column("clock_change", "relative change of the clock where the level of the step time changed"),
    Column(
        "turns",
        "none, made, contended or no_memory: whether the baseline took turns in the processes of the run",
    ),
    Column("speedup_in_launch", "ratio of throughputs to the baseline in the same processes, in turns"),
    Column("alternating_blocks", "blocks of each side in this ratio"),
    Column("contended_rounds", "rounds of turns in which other processes used the cores of the ranks"),
    *NOISE,
    Column("validation_accuracy", "accuracy on held-out data after the last epoch"),
    Column("time_to_accuracy_s", "training time to the study's target accuracy", "s"),
)
