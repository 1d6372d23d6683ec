"""Studies whose keys are valid one by one and mean nothing together, by kind."""

from __future__ import annotations

from typing import Any

Content = dict[str, Any]

SYNTHETIC: Content = {
    "model": {"type": "mlp"},
    "data": {"type": "synthetic-vectors", "samples": 640},
    "optimizer": {"type": "sgd"},
    "batch_size": 64,
    "epochs": 1,
}
TIMED = SYNTHETIC | {"epochs": 0}
ALONE: Content = {
    "variants": {"single": {"strategy": "single"}},
    "workloads": {"w": TIMED},
    "scales": ["1x1"],
    "max_repeats": None,
    "report": {},
}
MEANINGLESS: dict[str, tuple[Content, str]] = {
    "scales that nothing runs at": (ALONE | {"scales": ["1x1", "2x4"]}, "scales: nothing runs at 2x4"),
    "launches that decide nothing": (ALONE | {"repeats": 2, "max_repeats": 9}, "max_repeats: 9 repeats"),
    "a forecast from one process": (ALONE | {"report": {"forecast_scales": ["1x8"]}}, "report.forecast_scales"),
    "precise without further launches": (
        {"repeats": 3, "max_repeats": 3, "measure": {"until": "precise"}},
        "measure.until: precise",
    ),
    "a job too short for a launch": (
        {"time_limit_min": 90, "allocation_limit_min": 60},
        "allocation_limit_min: a job of 60 min",
    ),
    "a stall longer than a launch": ({"time_limit_min": 1, "stall_limit_s": 90}, "stall_limit_s: 90 s"),
    "an accuracy of random labels": (
        {"workloads": {"w": SYNTHETIC | {"epochs": 2, "target_accuracy": 0.9}}, "scales": ["1x1"]},
        "workloads.w.target_accuracy",
    ),
    "no step after the warm-up": (
        {"workloads": {"w": SYNTHETIC}, "scales": ["1x1"], "measure": {"warmup_steps": 10}},
        "workloads.w.epochs: with 1 a run has 10 steps",
    ),
    "a log of more steps than there are": (
        {
            "workloads": {"w": SYNTHETIC},
            "scales": ["1x1"],
            "variants": {"single": {"strategy": "single", "log_every_steps": 11}},
            "max_repeats": None,
            "report": {},
            "measure": {"warmup_steps": 2},
        },
        "variants.single.log_every_steps",
    ),
    "checkpoints that are never written": (
        ALONE | {"variants": {"single": {"strategy": "single", "checkpoint_every_steps": 100_000}}},
        "variants.single.checkpoint_every_steps",
    ),
}

DDP = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}}
PAIR: Content = {
    "scales": ["1x2"],
    "variants": DDP,
    "workloads": {"w": TIMED},
    "repeats": 3,
    "max_repeats": 6,
    "report": {},
}
"""One process and two ranks."""
DIGITS = SYNTHETIC | {"data": {"type": "digits"}, "batch_size": 32, "epochs": 6}
TEXTS = SYNTHETIC | {"model": {"type": "text-classifier"}, "epochs": 2, "scaling": ["strong"]}
DECODER = SYNTHETIC | {"model": {"type": "language-model", "parameters": "1M"}, "epochs": 0, "batch_size": 8}
TOKENS = {"type": "synthetic-tokens", "samples": 640}
SCRIPT: Content = {"command": "train.py --batch {batch_per_rank}", "batch_size": 64}
OWN = PAIR | {"workloads": {"s": SCRIPT}}


def own(**keys: Any) -> Content:
    return PAIR | {"workloads": {"s": SCRIPT | keys}}


def of(workload: Content, **keys: Any) -> Content:
    return PAIR | {"workloads": {"w": workload | keys}}


def ddp(**keys: Any) -> Content:
    return PAIR | {"variants": DDP | {"ddp": {"strategy": "ddp"} | keys}}


def gains(*pairs: tuple[str, str], **keys: Any) -> Content:
    """A study of two ddp variants, with these gains. pairs: of variants of workload w."""
    sides = [[{"workload": "w", "variant": name} for name in pair] for pair in pairs]
    variants = DDP | {"other": {"strategy": "ddp", "ddp": {"bucket_cap_mb": 0.25}}}
    found = [{"before": before, "after": after} for before, after in sides]
    return PAIR | {"variants": variants, "measure": {"gains": found}} | keys


MEANINGLESS |= {
    "steps of a trace that is not taken": (
        PAIR | {"profile": False, "measure": {"profile_steps": 9}},
        "measure.profile_steps: 9 has no effect",
    ),
    "a trace of a command": (OWN | {"profile": True}, "profile: true has no effect"),
    "steps of no probes": (
        PAIR | {"measure": {"probe_rounds": 0, "probe_steps": 5}},
        "measure.probe_steps: 5 has no effect",
    ),
    "a trial of a batch without epochs": (
        PAIR | {"measure": {"batch_trial_share": 0.3}},
        "measure.batch_trial_share: 0.3 has no effect",
    ),
    "steps of scripts that run to their end": (
        own(run_to_end=True) | {"measure": {"max_steps": 500}},
        "measure.max_steps: 500 has no effect",
    ),
    "turns of one process": (
        ALONE | {"measure": {"alternating_rounds": 6}},
        "measure.alternating_rounds: 6 has no effect, since every variant is one process",
    ),
    "turns of scripts": (OWN | {"measure": {"alternating_rounds": 6}}, "measure.alternating_rounds: 6 has no"),
    "turns at another precision": (
        ddp(precision="bf16") | {"measure": {"alternating_rounds": 6, "speedup_within": "launches"}},
        "measure.alternating_rounds: 6 has no effect, since no variant can take turns with its baseline (ddp",
    ),
    "an accuracy that nothing validates": (PAIR | {"report": {"accuracy_margin": 0.02}}, "report.accuracy_margin"),
    "an efficiency of one process": (
        ALONE | {"report": {"target_efficiency": 0.8}},
        "report.target_efficiency: 0.8 has no effect",
    ),
    "references of weak scaling": (
        of(TIMED, scaling=["weak"]) | {"report": {"overhead_reference": False}},
        "report.overhead_reference: false has no effect, since no workload scales strongly",
    ),
    "a limit of a script's memory": (OWN | {"host": {"memory_limit_gib": 8}}, "host.memory_limit_gib: 8"),
    "a forecast twice": (
        PAIR | {"report": {"forecast_scales": ["1x8", "1x8"]}},
        "report.forecast_scales: 1x8 is li",
    ),
    "a forecast of what is measured": (
        PAIR | {"report": {"forecast_scales": ["1x2"]}},
        "report.forecast_scales: 1x2 is measured",
    ),
    "a forecast from one rank": (
        PAIR | {"scales": ["1x1"], "report": {"forecast_scales": ["1x8"]}},
        "report.forecast_scales: nothing can be forecast to 1x8 from scales: [1x1]",
    ),
    "a forecast to ranks that do not divide the batch": (
        PAIR | {"report": {"forecast_scales": ["64x8"]}},
        "report.forecast_scales: nothing is forecast to 64x8, since 512 ranks do not divide the global batch (64)",
    ),
    "a batch twice": (
        PAIR | {"report": {"forecast_batches": [2, 2]}},
        "report.forecast_batches: 2 is listed twice",
    ),
    "a column twice": (
        PAIR | {"report": {"tables": {"summary": ["ranks", "speedup", "ranks"]}}},
        "report.tables.summary: ranks is listed twice",
    ),
    "a table of what is not measured": (
        PAIR | {"report": {"tables": {"weak_scaling": ["ranks"]}}},
        "report.tables.weak_scaling: this table is empty",
    ),
    "a gain of itself": (gains(("ddp", "ddp")), "measure.gains.0: before and after are the same"),
    "a gain twice": (gains(("ddp", "other"), ("other", "ddp")), "measure.gains.1: these two are compared above"),
    "a gain that decides nothing": (gains(("ddp", "other"), max_repeats=3), "measure.gains: has no effect"),
    "scaling twice": (of(TIMED, scaling=["weak", "weak"]), "workloads.w.scaling: weak is listed twice"),
    "two ways of scaling on one rank": (
        of(TIMED, scaling=["weak", "strong"]) | {"scales": ["1x1"]},
        "workloads.w.scaling: weak and strong are the same",
    ),
    "a rank of no PowerSGD": (ddp(ddp={"powersgd_rank": 4}), "variants.ddp.ddp.powersgd_rank: 4 has no effect"),
    "unused parameters of a static graph": (
        ddp(ddp={"static_graph": True, "find_unused_parameters": True}),
        "variants.ddp.ddp.find_unused_parameters: true has no effect",
    ),
    "sums of fp32 in bf16": (
        PAIR | {"variants": DDP | {"ddp": {"strategy": "fsdp", "fsdp": {"reduce_dtype": "bf16"}}}},
        "variants.ddp.fsdp.reduce_dtype: bf16 has no effect with precision: fp32",
    ),
    "batch normalisation that is not there": (
        ddp(ddp={"sync_batch_norm": True}),
        "variants.ddp.ddp.sync_batch_norm: workload w has no batch normalisation",
    ),
    "batch normalisation in bf16 on a CPU": (
        of(DIGITS, model={"type": "convnet", "norm": "batch"})
        | {"host": {"device": "cpu"}, "variants": DDP | {"ddp": {"strategy": "fsdp", "precision": "bf16"}}},
        "variants.ddp.precision: torch has no batch normalisation in bf16 with fsdp on a CPU",
    ),
    "pinned memory of a CPU": (
        of(TIMED, data=SYNTHETIC["data"] | {"on_device": False})
        | {"host": {"device": "cpu"}}
        | {"variants": DDP | {"ddp": {"strategy": "ddp", "input": {"loader": "dataloader", "pin_memory": True}}}},
        "variants.ddp.input.pin_memory: true has no effect",
    ),
    "a variant twice": (
        PAIR | {"variants": DDP | {"again": {"strategy": "ddp", "ddp": {"bucket_cap_mb": 25}}}},
        "variants.again: is the same as ddp",
    ),
    "a workload twice": (PAIR | {"workloads": {"w": TIMED, "v": TIMED}}, "workloads.v: is the same as w"),
    "classes of a decoder": (
        of(DECODER, data=TOKENS | {"classes": 10}),
        "workloads.w.data.classes: 10 has no effect with language-model",
    ),
    "a decoder without a layer": (
        of(DECODER, data=TOKENS, model={"type": "language-model", "parameters": "0.00001M"}),
        "workloads.w.model.parameters: 0.00001M is not a size",
    ),
    "no validation image": (
        of(DIGITS, data={"type": "digits", "validation_fraction": 0.0001}),
        "workloads.w.data.validation_fraction: 0.0001 holds out none of 1797 images",
    ),
    "fewer samples than a batch": (
        of(TEXTS, data={"type": "imdb", "path": "/d", "max_samples": 32}),
        "workloads.w.data.max_samples: 32 are fewer than batch_size: 64",
    ),
    "samples for no step after the warm-up": (
        of(TEXTS, data={"type": "imdb", "path": "/d", "max_samples": 128}),
        "workloads.w.epochs: with 2 a run has 4 steps at 1x1 (strong)",
    ),
    "an accuracy of guessing": (of(DIGITS, target_accuracy=0.1), "workloads.w.target_accuracy: 0.1 is reached by"),
    "a longer warm-up than weak scaling has steps": (
        of(DIGITS, scaling=["weak"], optimizer={"type": "sgd", "warmup_steps": 200}) | {"scales": ["1x8"]},
        "workloads.w.optimizer.warmup_steps: 200 is more than the 30 steps of a run at 1x8 (weak)",
    ),
    "no path": (
        of(TEXTS, epochs=0, data={"type": "imdb", "path": " "}),
        "workloads.w.data.path: ' ' names no file",
    ),
    "data that no device holds": (
        of(TIMED, data={"type": "synthetic-vectors", "samples": 10**8, "features": 10_000}),
        "workloads.w.data.samples: 100000000 of shape 10000 are about 4 TB",
    ),
    "a learning rate without its place": (own(learning_rate=0.1), "workloads.s.learning_rate: 0.1 has no effect"),
    "a scaling of no learning rate": (
        own(learning_rate_scaling="linear"),
        "workloads.s.learning_rate_scaling: linear has no effect",
    ),
    "no epochs for their place": (own(command="train.py --epochs {epochs}"), "workloads.s.epochs: missing"),
    "no module": (own(command="-m"), "workloads.s.command: -m needs the name of a module"),
    "a limit before the start": (PAIR | {"time_limit_min": 0.001}, "time_limit_min: no run can start"),
    "a stall at once": (PAIR | {"stall_limit_s": 0.01}, "stall_limit_s: no run can start"),
    "no time to start": (PAIR | {"start_limit_s": 0.1}, "start_limit_s: no run can start"),
    "a start longer than a run": (
        PAIR | {"time_limit_min": 2, "start_limit_s": 600},
        "start_limit_s: 600 s are nev",
    ),
    "memory for no process": (PAIR | {"host": {"memory_limit_gib": 0.01}}, "host.memory_limit_gib: 0.01 GiB"),
    "a rank that the launcher sets": (
        PAIR | {"host": {"environment": {"WORLD_SIZE": "4"}}},
        "host.environment.WORLD_SIZE: the launcher sets this variable",
    ),
    "hidden devices": (
        PAIR | {"host": {"device": "cuda", "environment": {"CUDA_VISIBLE_DEVICES": "0"}}},
        "host.environment.CUDA_VISIBLE_DEVICES: '0' shows 1 of the 2 devices",
    ),
    "a compiler that is switched off": (
        ddp(compile=True, environment={"TORCHDYNAMO_DISABLE": "1"}),
        "variants.ddp.environment.TORCHDYNAMO_DISABLE: switches off what compile: true asks for",
    ),
    "no trials": (
        PAIR | {"verify": {"mode": "auto", "most": 0, "budget_device_hours": 1}},
        "verify.most: 0 with mode: auto tries nothing",
    ),
    "trials in no time": (
        PAIR | {"verify": {"mode": "auto", "budget_device_hours": 0}},
        "verify.budget_device_hours: no trial fits into 0",
    ),
    "a search of shards of one process": (
        ALONE | {"tune": {"sharding": ["ddp"]}},
        "tune.sharding: has no effect",
    ),
    "a search of buckets without ddp": (
        PAIR | {"variants": DDP | {"ddp": {"strategy": "fsdp"}}, "tune": {"bucket_cap_mb": [10, 50]}},
        "tune.bucket_cap_mb: has no effect",
    ),
    "a search of a script's precision": (
        OWN | {"tune": {"precision": ["fp32", "bf16"]}},
        "tune.precision: has no",
    ),
    "a search of no batch": (
        of(DIGITS) | {"tune": {"batch_factors": [0.001]}},
        "tune.batch_factors: none of them",
    ),
    "a search below every batch": (of(DIGITS) | {"tune": {"largest_batch": 1}}, "tune.largest_batch: 1 is less"),
    "a search for more steps than there are": (
        of(DIGITS) | {"tune": {"fewest_steps": 1000}},
        "tune.fewest_steps: no batch",
    ),
    "a search of no value": (
        PAIR | {"tune": {"also": {"log_every_steps": [-5]}}},
        "tune.also: log_every_steps: 1 or more is expected, not -5",
    ),
    "a search of ranks of no PowerSGD": (
        PAIR | {"tune": {"also": {"ddp.powersgd_rank": [1, 2]}}},
        "tune.also: ddp.powersgd_rank: has no effect",
    ),
}
"""Kind -> (changes of a study, how the one line of the refusal begins)."""
