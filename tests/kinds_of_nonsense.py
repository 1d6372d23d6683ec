"""Further kinds of studies that mean nothing: values without effect, or beyond sense."""

from __future__ import annotations

from meaningless_studies import (
    ALONE,
    DDP,
    DECODER,
    DIGITS,
    OWN,
    PAIR,
    SYNTHETIC,
    TEXTS,
    TIMED,
    TOKENS,
    Content,
    ddp,
    of,
    own,
)

LOADED = {"loader": "dataloader", "workers": 2}
HOST_DATA = SYNTHETIC["data"] | {"on_device": False}
STREAM = DECODER | {"data": TOKENS}
FSDP = DDP | {"ddp": {"strategy": "fsdp"}}
ON_CPU: Content = {"host": {"device": "cpu"}}


def gpt(**settings: object) -> Content:
    model = {"type": "hugging-face", "architecture": "gpt2", "task": "next-token", "settings": settings}
    return of(STREAM, model=model)


def read(**options: object) -> Content:
    """A ddp variant that reads like this, from data in the memory of the host."""
    return of(SYNTHETIC | {"epochs": 2}, data=HOST_DATA) | {
        "variants": DDP | {"ddp": {"strategy": "ddp"} | options}
    }


def optimized(**keys: object) -> Content:
    return of(TIMED, optimizer={"type": "sgd"} | keys)


def variable(name: str, value: str, device: str = "cuda") -> Content:
    return PAIR | {"host": {"device": device, "environment": {name: value}}}


def measured(**keys: object) -> Content:
    return PAIR | {"measure": keys}


def reported(**keys: object) -> Content:
    return PAIR | {"report": keys}


def tuned(**keys: object) -> Content:
    return of(DIGITS, batch_size=32, epochs=6) | {"tune": keys}


KINDS: dict[str, tuple[Content, str]] = {
    "replacing runs where no repeats follow": (
        measured(replace_spoiled=False) | {"max_repeats": 3},
        "measure.replace_spoiled: false has no effect, since no repeats are run beyond repeats: 3",
    ),
    "trials of batches without probes": (
        of(DIGITS) | {"measure": {"probe_rounds": 0, "batch_trial_share": 0.3}},
        "measure.batch_trial_share: 0.3 has no effect, since measure.probe_rounds: 0",
    ),
    "a goal without a noise scale": (
        of(DIGITS) | {"measure": {"probe_rounds": 0}, "report": {"goal": "time_to_accuracy"}},
        "report.goal: 'time_to_accuracy' has no effect, since it needs the gradient noise scale",
    ),
    "a goal without epochs": (reported(goal="time_to_accuracy"), "report.goal: 'time_to_accuracy' has no effect"),
    "a goal of one process": (
        ALONE | {"report": {"goal": "cost_per_sample"}},
        "report.goal: 'cost_per_sample' has",
    ),
    "an accuracy of scripts that end early": (own(target_accuracy=0.9), "workloads.s.target_accuracy: 0.9 is not"),
    "a margin of scripts that end early": (
        OWN | {"report": {"accuracy_margin": 0.02}},
        "report.accuracy_margin: 0.02 has no effect, since no script has run_to_end: true",
    ),
    "epochs without their place": (own(epochs=3), "workloads.s.epochs: 3 has no effect, since the command has no"),
    "a folder without a name": (own(directory=" "), "workloads.s.directory: ' ' names no folder"),
    "a command for a shell": (
        own(command="train.py --batch {batch_per_rank} > log.txt"),
        "workloads.s.command: > is for a shell",
    ),
    "a variable of a shell": (
        own(command="train.py --batch {batch_per_rank} --data $DATA"),
        "workloads.s.command: $DATA is not replaced",
    ),
    "half of the braces": (
        own(command="train.py --batch {batch_per_rank"),
        "workloads.s.command: {batch_per_rank is not closed",
    ),
    "a module that is a file": (own(command="-m train.py"), "workloads.s.command: -m takes the name of a module"),
    "the same script under two strategies": (
        OWN | {"variants": DDP | {"fsdp": {"strategy": "fsdp"}}},
        "variants.fsdp: is the same as ddp",
    ),
    "the same variant with its defaults": (
        PAIR | {"variants": DDP | {"again": {"strategy": "ddp", "start": "cold"}}},
        "variants.again: is the same as ddp",
    ),
    "a key that the sweep sets": (
        PAIR
        | {"variants": DDP | {"ddp": {"strategy": "ddp", "compile": True, "sweep": {"compile": [True, False]}}}},
        "variants.ddp.compile: true has no effect, since the sweep",
    ),
    "one group of shards": (
        PAIR | {"variants": DDP | {"ddp": {"strategy": "fsdp", "fsdp": {"sharding": "hybrid"}}}},
        "variants.ddp.fsdp.sharding: hybrid is the same as full",
    ),
    "an order of one epoch": (
        of(DIGITS | {"epochs": 1})
        | {"variants": DDP | {"ddp": {"strategy": "ddp", "input": {"reshuffle": False}}}},
        "variants.ddp.input.reshuffle: false has no effect",
    ),
    "a last batch that is whole": (
        ddp(input={"drop_last": False}),
        "variants.ddp.input.drop_last: false has no effect",
    ),
    "more processes than batches": (
        read(input=LOADED | {"workers": 50}) | {"measure": {"warmup_steps": 2}},
        "variants.ddp.input.workers: 50 processes share 10 batches of an epoch",
    ),
    "more batches ahead than there are": (
        read(input=LOADED | {"prefetch_factor": 99}) | {"measure": {"warmup_steps": 2}},
        "variants.ddp.input.prefetch_factor: 99 is more than the 10 batches",
    ),
    "a batch that is read for days": (
        of(TIMED, data=HOST_DATA | {"sample_delay_us": 9e8}),
        "workloads.w.data.sample_delay_us: 9e+08 delays a run of one process, the baseline, by 3.46e+06 s",
    ),
    "checkpoints that are never kept": (
        of(DIGITS)
        | {"variants": DDP | {"ddp": {"strategy": "ddp", "checkpoint_every_steps": 100, "checkpoints_kept": 9}}},
        "variants.ddp.checkpoints_kept: 9 are never there, since the longest run writes 2",
    ),
    "one timed step": (
        of(DIGITS | {"epochs": 1, "batch_size": 130}),
        "workloads.w.epochs: with 1 a run has 11 steps at 1x1 (strong), of which measure.warmup_steps: 10",
    ),
    "more epochs than the time has": (
        of(DIGITS | {"epochs": 10**6}) | {"time_limit_min": 5, "stall_limit_s": 60},
        "workloads.w.epochs: 1000000 are",
    ),
    "a decay of no steps": (
        of(DIGITS, optimizer={"type": "sgd", "decay": "cosine", "warmup_steps": 264}),
        "workloads.w.optimizer.decay: cosine has no steps",
    ),
    "more steps than the time has": (
        measured(min_steps=10**8, max_steps=10**8) | {"time_limit_min": 5},
        "measure.min_steps: 100000010 steps",
    ),
    "blocks longer than a run": (
        measured(block_steps=1000),
        "measure.block_steps: 1000 is more than max_steps: 200",
    ),
    "an interval that nothing reaches": (measured(half_width=1e-7), "measure.half_width: 1e-07 is narrower"),
    "a margin of everything": (reported(target_margin=0.5), "report.target_margin: 0.5 counts almost every"),
    "a level beyond doubt": (reported(confidence=0.9999999), "report.confidence: 0.9999999 is more certain"),
    "a budget of nothing": (measured(budget_device_hours=1e-8), "measure.budget_device_hours: 1e-08 is less"),
    "a forecast too far": (reported(forecast_scales=["1x16"]), "report.forecast_scales: 1x16 is never forecast"),
    "a forecast over an unknown network": (
        reported(forecast_scales=["2x2"]),
        "report.forecast_scales: 2x2 is never forecast, since no scale of several nodes",
    ),
    "a batch too far": (reported(forecast_batches=[2, 8]), "report.forecast_batches: 8 is never forecast"),
    "images for fewer than all classes": (
        of(DIGITS, data={"type": "digits", "validation_fraction": 0.002}),
        "workloads.w.data.validation_fraction: 0.002 holds out 4 of 1797 images",
    ),
    "more samples than there are": (
        of(TEXTS, data={"type": "imdb", "path": "/d", "max_samples": 10**6}),
        "workloads.w.data.max_samples: 1000000 has no effect",
    ),
    "a batch of more than all samples": (
        of(TEXTS, data={"type": "imdb", "path": "/d"}, batch_size=30_000, epochs=0),
        "workloads.w.batch_size: 30000 is more than the 25000",
    ),
    "an address as a path": (
        of(TEXTS, data={"type": "imdb", "path": "https://example.org/a.tgz"}),
        "workloads.w.data.path: 'https://example.org/a.tgz' is an address",
    ),
    "the checksum of nothing": (
        of(
            TEXTS,
            data={
                "type": "imdb",
                "url": "https://example.org/a.tgz",
                "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            },
        ),
        "workloads.w.data.sha256: this is the checksum of an empty file",
    ),
    "a network larger than a host": (
        of(STREAM, model={"type": "language-model", "parameters": "9000B"}),
        "workloads.w.model: its 9e+12 parameters need",
    ),
    "a batch larger than a host": (
        of(STREAM, data=TOKENS | {"sequence_length": 10**7}, batch_size=64, model={"type": "language-model"})
        | {"host": {"device": "cuda"}},
        "workloads.w.batch_size: 64 samples need 78.1 TB",
    ),
    "a decay of whole weights": (
        optimized(learning_rate=0.5, weight_decay=10),
        "workloads.w.optimizer.weight_decay: 10 times learning_rate: 0.5 is 1 or more",
    ),
    "a rate of nothing": (optimized(learning_rate=1e-30), "workloads.w.optimizer.learning_rate: 1e-30 changes no"),
    "a clip of everything": (optimized(gradient_clip=1e-9), "workloads.w.optimizer.gradient_clip: 1e-09 is less"),
    "a momentum without an end": (optimized(momentum=0.9999999), "workloads.w.optimizer.momentum: 0.9999999"),
    "NCCL on a CPU": (
        variable("NCCL_DEBUG", "INFO", "cpu"),
        "host.environment.NCCL_DEBUG: has no effect with host.device: cpu",
    ),
    "a level of NCCL's log": (
        variable("NCCL_DEBUG", "loud"),
        "host.environment.NCCL_DEBUG: VERSION, WARN, INFO or",
    ),
    "a misspelt variable": (
        variable("NCCL_P2P_DISABEL", "1"),
        "host.environment.NCCL_P2P_DISABEL: no library reads this variable; did you mean NCCL_P2P_DISABLE?",
    ),
    "a device twice": (
        variable("CUDA_VISIBLE_DEVICES", "0,0"),
        "host.environment.CUDA_VISIBLE_DEVICES: '0,0' is no",
    ),
    "the home of another Python": (variable("PYTHONHOME", "/nowhere"), "host.environment.PYTHONHOME: '/nowhere'"),
    "no folder of programs": (variable("PATH", ""), "host.environment.PATH: '' names nothing"),
    "a search at a precision without a device": (
        tuned(precision=["fp32", "tf32"]) | ON_CPU,
        "tune.precision: tf32 is available on CUDA devices only",
    ),
    "a search of workers without reading": (
        PAIR | {"tune": {"workers": [1, 2]}},
        "tune.workers: [1, 2] cannot be tried, since data on the device",
    ),
    "a search of one group of shards": (tuned(sharding=["fsdp-hybrid"]), "tune.sharding: fsdp-hybrid is the same"),
    "a search that holds every key": (
        tuned(
            hold=[
                "batch_size",
                "accumulation_steps",
                "precision",
                "input.workers",
                "ddp.bucket_cap_mb",
                "sharding",
            ]
        ),
        "tune.hold: every key is held",
    ),
    "a search of the present value": (
        tuned(also={"compile": [False]}),
        "tune.also: compile: false is the present",
    ),
    "a search of batches too far": (tuned(batch_factors=[16]), "tune.batch_factors: 16 gives more than 4 times"),
    "a search of batches without epochs": (PAIR | {"tune": {"batch_factors": [2]}}, "tune.batch_factors: has no"),
    "jobs of one process": (
        ALONE | {"allocations": "scales"},
        "allocations: 'scales' has no effect, since every variant is one process",
    ),
    "jobs of one rank": (
        PAIR | {"scales": ["1x1"], "allocations": "blocks"},
        "allocations: 'blocks' has no effect, since no run has several ranks",
    ),
    "trials for one process": (
        ALONE | {"verify": {"most": 7}},
        "verify.most: 7 has no effect, since advice is for runs of several ranks",
    ),
    "device-hours for trials of one rank": (
        PAIR | {"scales": ["1x1"], "verify": {"budget_device_hours": 1}},
        "verify.budget_device_hours: 1.0 has no effect, since advice is for runs of several ranks, and no run has",
    ),
    "an efficiency of one rank": (
        PAIR | {"scales": ["1x1"], "report": {"target_efficiency": 0.8}},
        "report.target_efficiency: 0.8 has no effect, since no run has several ranks",
    ),
    "a margin of one rank": (
        PAIR | {"scales": ["1x1"], "max_repeats": 3, "report": {"target_margin": 0.1}},
        "report.target_margin: 0.1 has no effect, since no run has several ranks",
    ),
    "a goal of one rank": (
        PAIR | {"scales": ["1x1"], "report": {"goal": "cost_per_sample"}},
        "report.goal: 'cost_per_sample' has no effect, since no run has several ranks",
    ),
    "an accuracy that nothing is compared with": (
        ALONE | {"workloads": {"w": DIGITS}, "report": {"accuracy_margin": 0.02}},
        "report.accuracy_margin: 0.02 has no effect, since every variant is one process",
    ),
    "larger batches than the only one": (
        of(TIMED, scaling=["weak"]) | {"report": {"forecast_batches": [3]}},
        "report.forecast_batches: a list has no effect, since one process is measured at one batch only: no work",
    ),
    "larger batches without references": (
        reported(forecast_batches=[3], overhead_reference=False),
        "report.forecast_batches: a list has no effect, since one process is measured at one batch only: report.",
    ),
    "a learning rate that follows a constant batch": (
        ALONE | {"workloads": {"w": TIMED | {"optimizer": {"type": "sgd", "learning_rate_scaling": "linear"}}}},
        "workloads.w.optimizer.learning_rate_scaling: linear has no effect, since no run has several ranks",
    ),
    "a script's learning rate that follows a constant batch": (
        own(
            command="train.py --batch {batch_per_rank} --lr {learning_rate}",
            learning_rate=0.1,
            learning_rate_scaling="linear",
        )
        | {"scales": ["1x1"]},
        "workloads.s.learning_rate_scaling: linear has no effect, since no run has several ranks",
    ),
    "a learning rate that follows the batch of strong scaling": (
        optimized(learning_rate_scaling="sqrt") | {"report": {"overhead_reference": False}},
        "workloads.w.optimizer.learning_rate_scaling: sqrt has no effect, since strong scaling keeps the batch",
    ),
    "a learning rate that follows a batch of no trial": (
        optimized(learning_rate_scaling="sqrt") | {"report": {"target_efficiency": 1}},
        "workloads.w.optimizer.learning_rate_scaling: sqrt has no effect, since strong scaling keeps the batch",
    ),
    "device-hours of no trial": (
        PAIR | {"verify": {"most": 0, "budget_device_hours": 1}},
        "verify.budget_device_hours: 1 has no effect with most: 0",
    ),
    "memory for a part of the data": (
        of(TIMED, data={"type": "synthetic-vectors", "samples": 10**7}) | {"host": {"memory_limit_gib": 2}},
        "host.memory_limit_gib: 2 GiB are less than the 2.39 GiB or more that every run of workload w needs",
    ),
    "a longer warm-up than a run without epochs": (
        optimized(warmup_steps=4000),
        "workloads.w.optimizer.warmup_steps: 4000 is more than the 299 steps that a run can have with epochs: 0",
    ),
    "buckets larger than the network": (
        ddp(ddp={"bucket_cap_mb": 50}),
        "variants.ddp.ddp.bucket_cap_mb: 50 has no effect, since the gradients of the largest network have 0.58",
    ),
    "a step time that ends no training": (
        of(DIGITS) | {"measure": {"launch_half_width": 0.02}},
        "measure.launch_half_width: 0.02 has no effect, since every workload trains for epochs",
    ),
    "trials longer than their share of a training": (
        of(DIGITS) | {"measure": {"batch_trial_share": 0.05}},
        "measure.batch_trial_share: 0.05 of the 264 steps of the longest ddp training is less than the 24",
    ),
    "memory for no run": (
        of(TIMED, model={"type": "mlp", "hidden_dim": 16384}) | {"host": {"memory_limit_gib": 0.5}},
        "host.memory_limit_gib: 0.5 GiB are less than the 6.01 GiB or more that every run of workload w needs",
    ),
    "more arithmetic than the time has": (
        of(
            STREAM,
            model={"type": "language-model", "parameters": "100B"},
            data=TOKENS | {"samples": 64000},
            epochs=9,
        ),
        "workloads.w.epochs: 9 are 576000 samples, and one process, the baseline, computes them in",
    ),
    "a forecast from one number of nodes": (
        reported(forecast_scales=["4x2"]) | {"scales": ["2x2"]},
        "report.forecast_scales: 4x2 is never forecast, since 2x2 is the only one with 2 devices on each node",
    ),
    "an architecture that is not there": (
        of(STREAM, model={"type": "hugging-face", "architecture": "gtp2", "task": "next-token"}),
        "workloads.w.model.architecture: transformers has no 'gtp2'; did you mean gpt2?",
    ),
    "an architecture without a head": (
        of(STREAM, model={"type": "hugging-face", "architecture": "vit", "task": "next-token"}),
        "workloads.w.model.architecture: vit cannot be trained with task: next-token",
    ),
    "a share above one": (
        gpt(resid_pdrop=2),
        "workloads.w.model.settings.resid_pdrop: a number from 0 to below 1",
    ),
    "a setting that is not there": (
        gpt(n_layers=2),
        "workloads.w.model.settings.n_layers: gpt2 has no such setting; did you mean n_layer?",
    ),
    "a setting that follows": (gpt(vocab_size=9), "workloads.w.model.settings.vocab_size: follows from the data"),
    "a setting that is no number": (gpt(n_layer="two"), "workloads.w.model.settings.n_layer: a whole number is"),
    "a network of no layers": (gpt(n_layer=0), "workloads.w.model.settings.n_layer: 1 or more is expected"),
    "fewer positions than tokens": (gpt(n_positions=8), "workloads.w.model.settings.n_positions: 8 positions are"),
}
"""Kind -> (changes of a study, how the one line of the refusal begins). Those of transformers need the package."""
