"""The columns of runs.csv: a row a launch."""

from collections.abc import Iterator

from scalestudy.registry.column import Column
from scalestudy.registry.points import PARTS, SPLIT

WHERE = (
    Column("workload", "name of the workload"),
    Column("variant", "name of the variant"),
    Column("nodes", "number of nodes"),
    Column("devices_per_node", "devices, and ranks, of each node"),
    Column("world_size", "number of ranks"),
    Column("batch_per_rank", "samples of a step, of one rank"),
    Column("global_batch", "samples of a step, of all ranks"),
)
KNOBS = (
    Column("strategy", "single, ddp or fsdp"),
    Column("precision", "arithmetic of forward and backward: fp32, tf32, bf16 or fp16"),
    Column("micro_batch", "samples of a micro-batch of one rank"),
    Column("accumulation_steps", "micro-batches of an optimizer step"),
    Column("compile", "whether torch.compile was on"),
    Column("activation_checkpointing", "whether activations were computed again in the backward pass"),
    Column("settings", "what of the variant differs from the defaults, as a study's file has it"),
)
PLACE = (
    Column("device", "cpu, or the name of the GPU"),
    Column("hosts", "hosts of the ranks"),
    Column("torch", "version of torch"),
    Column("threads_per_rank", "threads of torch's intra-op pool, maximum over ranks"),
    Column("threads_per_core", "threads of all ranks of a host over the cores they may use, maximum over hosts"),
)
MODEL = (
    Column("parameters", "trained parameters"),
    Column("gradient_bytes", "gradients synchronised in a step", "bytes"),
    Column("unused_parameter_bytes", "parameters without a gradient, as DDP counts them", "bytes"),
    Column("buffer_bytes", "buffers of the model, such as running statistics", "bytes"),
    Column("synchronised_norms", "normalisation layers that take their statistics over all ranks"),
    Column("bytes_sent_per_step", "sent by a rank in a step, by its strategy's algorithm", "bytes"),
    Column("flops_per_sample", "floating-point operations of a sample, forward and backward", "FLOP"),
)
MEMORY = (
    *(
        Column(f"{statistic}_{kind}_gib", f"{statistic} {kind} memory of a rank, maximum over ranks", "GiB")
        for kind in ("resident", "allocated", "reserved")
        for statistic in ("peak", "mean")
    ),
    Column("allocation_retries", "times that torch's CUDA allocator gave memory back and asked again"),
    Column("memory_growth_gib_per_1000_steps", "slope of memory over 1000 steady steps", "GiB", "interval"),
    Column("memory_growth_rank", "rank whose memory grows most"),
    Column("memory_growth_kind", "which memory that is: allocated or resident"),
)
STEADINESS = (
    Column("steadiness", "steady, level_change or two_modes: whether one mean describes the steady steps"),
    Column("level_change", "relative change of the step time at its lasting change of level"),
    Column("level_changed_after_steps", "steady steps before that change"),
    Column("fast_mode_s", "step time of the fast mode where there are two", "s"),
    Column("slow_mode_s", "step time of the slow mode", "s"),
    Column("slow_mode_share", "share of the steps in the slow mode"),
)


def _probes() -> Iterator[Column]:
    for name, meaning in {
        "differential": "step time with synchronisation of gradients less that without, mean over ranks",
        "exposed_span": "communication that no backward computation overlaps with, by DDP's logger",
        "interference": "backward computation slowed by the communication that it overlaps with",
        "remainder": "differential less exposed communication and interference",
        "imbalance": "slowest rank's own work less the mean, without synchronisation",
        "hook_cost": "overhead of the bucket timestamps",
        "exposed_hook": "exposed communication by the timestamps of gradient buckets",
        "wait_time": "exposed communication by timestamps: waiting for the slowest rank",
        "transfer_time": "exposed communication by timestamps: from then to the end of the last bucket",
        "hook_difference": "exposed communication by timestamps less that by DDP's logger",
    }.items():
        yield Column(f"{name}_s", meaning, "s", "interval")


LINKS = (
    Column("slowest_link", "nvlink, pcie or none: slowest hop of the best ring through the GPUs, inside a node"),
    Column("slowest_link_name", "that hop in words; none where it is not known"),
    Column("link_bus_gib_per_s", "bus bandwidth that NCCL counts on with that hop", "GiB/s"),
    Column(
        "nccl_transport", "p2p, shm, net, net_ib, net_socket or none: slowest transport that NCCL said it took"
    ),
    Column("nccl_interfaces", "interfaces that NCCL has for it, where it is a network; else none"),
)
COMMUNICATION = (
    *_probes(),
    Column("methods", "agree, disagree or not_compared_*: whether the methods of measuring communication agree"),
    Column(
        "late_rank",
        "rank whose gradients come last for most buckets, or that is slowest in most of what late_by says",
    ),
    Column("late_share", "share of the buckets for which it comes last"),
    Column("lateness_s", "how much later its gradients come than the mean of the others", "s"),
    Column(
        "late_by",
        "buckets, blocks (of steps without synchronisation), steps (outside of the backward pass) or none: by what"
        " the late rank was seen",
    ),
    Column("buckets", "gradient buckets of a step"),
    Column("all_reduce_latency_s", "latency of the all-reduce on the idle network, fitted", "s"),
    Column("buffer_broadcast_s", "broadcast of the model's buffers on the idle network", "s"),
    Column("all_reduce_gib_per_s", "bandwidth of the all-reduce on the idle network, fitted", "GiB/s"),
    Column("all_reduce_bus_gib_per_s", "bus bandwidth of the all-reduce at the largest message", "GiB/s"),
    Column("all_reduce_largest_bytes", "size of that message", "bytes"),
    *LINKS,
    Column(
        "all_reduce_small_share", "time of an all-reduce of 1/8 of the largest message over that of the largest"
    ),
)
SCRIPT = (
    Column("wrapper", "none, ddp or fsdp: what is around the model"),
    Column("seen", "settings of a script as far as they were seen, by the names of a variant's keys, as JSON"),
    Column(
        "checkpoint_apart_s",
        "seconds of checkpoints for each step of a script, whose steps with one are left out of the step time",
        "s",
    ),
)
RANKS = (
    Column("heaviest_rank", "rank with most samples"),
    Column("samples_excess", "share by which it has more samples than the mean rank"),
    Column("numa_ranks", "ranks whose cores lie on several NUMA nodes, as a JSON list"),
    Column(
        "far_ranks",
        "ranks on GPUs with cores off the socket of their GPU, as a JSON list of [rank, GPU, sockets of the cores,"
        " socket of the GPU]",
    ),
    Column("numa_excess_s", "host work of a step on ranks of numa_ranks and far_ranks beyond that of others", "s"),
)
NOISE = (
    Column(
        "gradient_noise_scale_samples",
        "batch at which the noise of a gradient equals the gradient, at the end of the training: gradient_variance"
        " over gradient_square; inf where no batch shows the gradient, and as a limit without an end",
        "samples",
        "interval",
    ),
    Column("gradient_variance", "trace of the covariance of the gradients of single samples, mean over launches"),
    Column("gradient_square", "squared norm of the mean gradient, mean over launches; may be below 0 by chance"),
    Column(
        "trial_noise_scale_samples",
        "the same as larger batches show it that were tried from a checkpoint, at equal samples; inf where they"
        " need no more samples to each loss, 0 where one diverged",
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
        "energy of a sample: of all GPUs of the launch, whole boards, between steady blocks",
        "J",
    ),
    Column(
        "cpu_energy_per_sample_j",
        "energy of a sample: of all processor packages of its hosts (RAPL), whatever else runs there",
        "J",
    ),
)
SLOWDOWNS = (
    Column(
        "thermal_slowdown_share", "share of readings in which heat held a GPU's clock back, maximum over ranks"
    ),
    Column(
        "power_cap_share", "share of readings in which a power limit held a GPU's clock back, maximum over ranks"
    ),
    Column(
        "hardware_slowdown_share",
        "share of readings with NVML's HW slowdown, for heat or for power, maximum over ranks",
    ),
)

SPOILED = (
    Column(
        "spoiled",
        "none, unknown where the host was not watched, or what else it did while the launch trained, separated by"
        " blanks: other_load, stolen_time, throttled, swapped, clock_set, shared_gpu",
    ),
    Column("spoiled_after", "the same of what followed the training: probes, and turns of the base case"),
    Column("others_cores", "cores' worth of the ranks' CPUs that other processes took, maximum over nodes"),
    Column("stolen_share", "share of the time of these CPUs that a hypervisor gave to other machines"),
    Column("memory_stall_share", "share of the time in which all tasks of the host waited for memory"),
    Column("cpu_throttled_share", "share of the time in which heat held a CPU back"),
    Column("clock_jump_s", "by how much the clock of the day was set meanwhile", "s"),
    Column("gpu_others", "processes of others on the launch's GPUs, at most"),
    Column("swapped_mib_per_s", "memory that the host swapped in and out", "MiB/s"),
)

RUNS: tuple[Column, ...] = (
    Column("run_id", "name of the run's folder"),
    *WHERE,
    *KNOBS,
    Column("repeat", "number of the repeat, from 1"),
    Column("outcome", "ok, oom, diverged, timeout, failed, preempted, or unneeded for a launch held in reserve"),
    Column("reason", "one sentence where the outcome is not ok"),
    *PLACE,
    Column("node_names", "nodes of the ranks, as the scheduler calls them"),
    Column("slurm_job", "id of the SLURM job that the launch was part of"),
    Column("held_devices", "devices of that job, those that the launch left idle included"),
    *MODEL,
    Column("steps", "steps of training, warm-up included"),
    Column("stopped_because", "why the launch ended after this number of steps"),
    *MEMORY,
    Column("wall_time_s", "from the start of the processes to their end", "s"),
    Column("training_wall_time_s", "of the wall time, training with validation", "s"),
    Column("probe_wall_time_s", "of the wall time, probes and traces after it", "s"),
    Column("record_sha256", "SHA-256 of run.json"),
    Column("protocol", "version of the measurement protocol"),
    Column("fingerprint", "hash of the code that measured"),
    Column("commit", "commit of the code that measured"),
    Column("dirty", "whether that code had changes that were not committed"),
    Column("started_at", "when the launch was started"),
    Column("warmup_steps", "steps dropped from the start"),
    Column("steady_steps", "steps after the warm-up"),
    Column("step_time_s", "step time of the slowest rank, mean over steady steps", "s"),
    *(
        Column(f"step_time_{name}_s", f"{meaning} of the steady steps, maximum over ranks", "s")
        for name, meaning in {"p50": "median", "p95": "95th percentile", "p99": "99th percentile"}.items()
    ),
    Column("step_time_cv", "coefficient of variation of the steady steps"),
    Column("step_time_half_width", "half-width of the interval of this launch's mean, over the mean"),
    *PARTS_OF_A_STEP,
    Column("rank_skew_s", "slowest rank's step less the fastest one's, mean over steps", "s"),
    *STEADINESS,
    Column("level_changed_at_step", "number of the step at which the level changed"),
    Column("throughput_samples_per_s", "samples a second, of all ranks", "samples/s"),
    Column("backward_compute_time_s", "backward pass less exposed communication", "s"),
    *COMMUNICATION,
    *RANKS,
    *SCRIPT,
    Column("memory_grows", "whether memory grows over the steady steps"),
    Column("all_reduce_enqueue_s", "host's time to launch the smallest all-reduce; GPUs only", "s"),
    Column("enqueue_share", "time that the host takes to queue steps, over their time on the device"),
    *ENERGY,
    *SLOWDOWNS,
    *SPOILED,
    Column("clock_change", "relative change of the clock where the level of the step time changed"),
    Column(
        "turns",
        "none, made, contended or no_memory: whether the base case took turns in the processes of the launch",
    ),
    Column("speedup_in_launch", "ratio of throughputs to the base case that took turns with it in its processes"),
    Column("alternating_blocks", "blocks of each side that this ratio is made of"),
    Column("contended_rounds", "rounds of turns in which others took the cores of the ranks"),
    *NOISE,
    Column("validation_accuracy", "accuracy on held-out data after the last epoch"),
    Column("time_to_accuracy_s", "training time to the study's target accuracy", "s"),
)
