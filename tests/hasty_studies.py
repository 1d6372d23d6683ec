"""Studies with values that a person in a hurry writes, and of which nothing comes."""

from __future__ import annotations

from kinds_of_nonsense import ON_CPU, STREAM, measured, reported, tuned, variable
from meaningless_studies import (
    ALONE,
    DDP,
    DECODER,
    DIGITS,
    OWN,
    PAIR,
    SCRIPT,
    SYNTHETIC,
    TEXTS,
    TIMED,
    TOKENS,
    Content,
    ddp,
    of,
    own,
)

SGD = {"type": "sgd"}
NEWS = {"type": "ag-news", "url": "https://example.org/a.tgz", "sha256": "0" * 64}
RATES = (("fast", 0.1), ("slow", 0.01))
SINGLE_NCCL = {"strategy": "single", "environment": {"NCCL_P2P_DISABLE": "1"}}
TO_ITS_END = own(run_to_end=True)
FP32_GPT = of(STREAM, model={"type": "language-model", "parameters": "7B"}, data=TOKENS, batch_size=512)
HASTY: dict[str, tuple[Content, str]] = {
    "a start in a second": (PAIR | {"scales": ["2x1"], "start_limit_s": 1}, "start_limit_s: no run can start"),
    "a stall in every backward pass": (
        FP32_GPT | {"stall_limit_s": 5, "time_limit_min": 20_000, "host": {"device": "cuda"}},
        "stall_limit_s: a backward pass of workload w takes one process, the baseline, 22.",
    ),
    "NCCL of a baseline": (
        PAIR | {"variants": DDP | {"single": SINGLE_NCCL}},
        "variants.single.environment.NCCL_P2P_DISABLE: has no effect, since one process sends nothing",
    ),
    "NCCL of one process": (
        ALONE | {"host": {"environment": {"NCCL_DEBUG": "INFO"}}},
        "host.environment.NCCL_DEBUG: has no effect, since one process sends nothing",
    ),
    "more cores than a node has": (
        PAIR | {"scales": ["1x16"], "host": {"cores_per_rank": 100}},
        "host.cores_per_rank: 100 for each of the 16 ranks of a node at scale 1x16 are 1600 cores",
    ),
    "a delay that nothing shows": (
        of(TIMED, data=SYNTHETIC["data"] | {"on_device": False, "sample_delay_us": 0.001}),
        "workloads.w.data.sample_delay_us: 0.001 delays a batch of 64 samples by 0.064 microseconds",
    ),
    "buffers that are not there": (
        ddp(ddp={"broadcast_buffers": False}),
        "variants.ddp.ddp.broadcast_buffers: false has no effect, since no network has buffers",
    ),
    "synchronisation of a baseline alone": (
        PAIR
        | {
            "variants": DDP
            | {"single": {"strategy": "single", "accumulation_steps": 2, "accumulation_sync": True}}
        },
        "variants.single.accumulation_sync: true has no effect, since one process",
    ),
    "a held key of a script": (
        OWN | {"tune": {"hold": ["precision"]}},
        "tune.hold: precision is not searched, since every workload is a command",
    ),
    "the only key of a script held": (
        OWN | {"tune": {"hold": ["batch_size"]}},
        "tune.hold: batch_size is all that can be searched, since every workload is a command",
    ),
    "a search of batches of too few steps": (
        tuned(batch_factors=[2, 4]),
        "tune.batch_factors: no batch of [2, 4] times batch_size leaves tune.fewest_steps: 30 steps of an epoch",
    ),
    "a search of no workers without reading": (
        PAIR | {"tune": {"workers": [0]}},
        "tune.workers: [0] cannot be tried, since data on the device are not read by workers",
    ),
    "a checkpoint one step after the longest run": (
        ddp(checkpoint_every_steps=300),
        "variants.ddp.checkpoint_every_steps: no run has 300 steps, the longest has 299",
    ),
    "more arithmetic than a core has time for": (
        of(STREAM, model={"type": "language-model", "parameters": "1.3B"}, data=TOKENS | {"sequence_length": 32})
        | ON_CPU
        | {"time_limit_min": 3},
        "workloads.w.batch_size: 60 steps are 480 samples, and one process, the baseline, computes them in",
    ),
    "a held batch that is not searched": (
        PAIR | {"tune": {"hold": ["batch_size"]}},
        "tune.hold: batch_size is not searched, since no workload trains for epochs",
    ),
    "a held key of one process": (
        ALONE | {"tune": {"hold": ["sharding"]}},
        "tune.hold: sharding is not searched, since every variant is one process",
    ),
    "NCCL of a script's baseline": (
        OWN | {"variants": DDP | {"single": SINGLE_NCCL}},
        "variants.single.environment.NCCL_P2P_DISABLE: has no effect, since one process sends nothing",
    ),
    "a warm-up longer than a training on official data": (
        of(
            TEXTS,
            data={"type": "imdb", "path": "/d"},
            batch_size=1000,
            optimizer={"type": "adamw", "warmup_steps": 200},
        ),
        "workloads.w.optimizer.warmup_steps: 200 is more than the 50 steps of a run at 1x1 (strong)",
    ),
    "a warm-up of a script that ends by itself": (
        TO_ITS_END | {"measure": {"max_warmup_steps": 100}},
        "measure.max_warmup_steps: 100 has no effect, since every script runs to its end",
    ),
    "probes of a script that ends by itself": (
        TO_ITS_END | {"measure": {"probe_rounds": 10}},
        "measure.probe_rounds: 10 has no effect, since every script runs to its end, and such runs are not probed",
    ),
    "probes of one process": (
        ALONE | {"measure": {"probe_rounds": 10}},
        "measure.probe_rounds: 10 has no effect, since every variant is one process",
    ),
    "an accuracy of everything": (
        of(TEXTS, data={"type": "imdb", "path": "/d"}, target_accuracy=1),
        "workloads.w.target_accuracy: 1 is more than any published network reaches on imdb",
    ),
    "micro-batches of a batch that is not searched": (
        PAIR | {"workloads": {"w": TIMED}, "tune": {"accumulation_steps": [128]}},
        "tune.accumulation_steps: no batch has 128 samples; the largest to be tried has 64",
    ),
    "trials in seconds": (
        PAIR | {"verify": {"budget_device_hours": 0.001}},
        "verify.budget_device_hours: no trial fits into 0.001",
    ),
    "a search of one bucket": (
        tuned(bucket_cap_mb=[10, 1000]),
        "tune.bucket_cap_mb: [10, 1000] has nothing to try, since the gradients of the largest network have 0.58",
    ),
    "workloads that learn at two rates and are only timed": (
        PAIR | {"workloads": {name: TIMED | {"optimizer": SGD | {"learning_rate": rate}} for name, rate in RATES}},
        "workloads.slow: differs from fast only in optimizer.learning_rate, which changes no step time",
    ),
    "an accuracy in hundredths": (
        own(run_to_end=True, target_accuracy=0.0085),
        "workloads.s.target_accuracy: 0.00",
    ),
    "more words than a text has": (
        of(TEXTS, data=NEWS | {"sequence_length": 640}),
        "workloads.w.data.sequence_length: 640 is more than any text of ag-news has",
    ),
    "a budget of half a second": (
        measured(budget_device_hours=0.01 / 60),
        "measure.budget_device_hours: 0.000166667 is less than any run takes",
    ),
    "epochs of samples that are slow to read": (
        of(SYNTHETIC | {"epochs": 9}, data=SYNTHETIC["data"] | {"on_device": False, "sample_delay_us": 50_000})
        | {"time_limit_min": 3},
        "workloads.w.data.sample_delay_us: 50000 delays a run of one process, the baseline, by 288 s, more than",
    ),
    "a budget of the only repeat": (
        PAIR | {"repeats": 1, "max_repeats": None, "measure": {"budget_device_hours": 10}},
        "measure.budget_device_hours: 10.0 has no effect, since no repeats are run beyond repeats: 1",
    ),
    "an accuracy that nobody has": (
        of(TEXTS, data=NEWS, target_accuracy=0.999),
        "workloads.w.target_accuracy: 0.999 is more than any published network reaches on ag-news",
    ),
    "a script with a permission and without": (
        PAIR | {"workloads": {"s": SCRIPT, "t": SCRIPT | {"allow_shared": True}}},
        "workloads.t: is the same as s",
    ),
    "weak scaling of two equal workloads": (
        PAIR | {"workloads": {"w": TIMED | {"scaling": ["weak"]}, "v": TIMED | {"scaling": ["strong", "weak"]}}},
        "workloads.v: is the same as w in weak scaling, so these points are measured twice",
    ),
    "a forecast on a node of which one device is measured": (
        reported(forecast_scales=["1x3"]) | {"scales": ["2x1"], "workloads": {"w": TIMED | {"batch_size": 48}}},
        "report.forecast_scales: 1x3 is never forecast, since no scale of several devices on one node is measured",
    ),
    "sequences that one baseline has no time for": (
        of(
            DECODER,
            model={"type": "language-model", "parameters": "125M"},
            data=TOKENS | {"sequence_length": 200_000},
        )
        | {"host": {"device": "cuda"}, "time_limit_min": 60, "stall_limit_s": 3600}
        | {
            "variants": {
                "single": {"strategy": "single"},
                "fast": {"strategy": "single", "precision": "bf16"},
                "ddp": {"strategy": "ddp", "base": "single"},
            }
        },
        "workloads.w.batch_size: 60 steps are 480 samples, and one process, the baseline, computes them in",
    ),
}
"""Kind -> (changes of a study, how the one line of the refusal begins)."""

SENSIBLE: dict[str, Content] = {
    "NCCL of both": PAIR
    | {"variants": {name: one | {"environment": {"NCCL_ALGO": "Ring"}} for name, one in DDP.items()}},
    "NCCL of a group of one": OWN | {"variants": DDP | {"single": SINGLE_NCCL | {"launcher": "torchrun"}}},
    "the present batch": tuned(batch_factors=[1]),
    "a held batch": tuned(hold=["batch_size"]),
    "NCCL of all ranks": variable("NCCL_DEBUG", "INFO"),
    "cores that ranks share": PAIR | {"scales": ["1x16"], "host": {"cores_per_rank": 100, "pin": False}},
    "buffers that are there": of(DIGITS, model={"type": "convnet", "norm": "batch"})
    | {"variants": DDP | {"ddp": {"strategy": "ddp", "ddp": {"broadcast_buffers": False}}}},
    "synchronisation of both": PAIR
    | {
        "variants": {name: one | {"accumulation_steps": 2, "accumulation_sync": True} for name, one in DDP.items()}
    },
    "probes of scripts that end early": OWN | {"measure": {"probe_rounds": 10, "max_warmup_steps": 100}},
    "no probes": ALONE | {"measure": {"probe_rounds": 0}},
    "all of the digits": of(DIGITS, target_accuracy=1),
    "micro-batches of a batch that is searched": tuned(accumulation_steps=[128]),
    "a backward pass within the limit": FP32_GPT
    | {"stall_limit_s": 60, "time_limit_min": 20_000, "host": {"device": "cuda"}},
    "a small network on a CPU": measured(max_steps=100) | ON_CPU | {"stall_limit_s": 1},
    "two rates of training": PAIR
    | {"workloads": {name: DIGITS | {"optimizer": SGD | {"learning_rate": rate}} for name, rate in RATES}},
    "clipping and none": PAIR
    | {
        "workloads": {
            name: TIMED | {"optimizer": SGD | clip} for name, clip in (("a", {}), ("b", {"gradient_clip": 1}))
        }
    },
    "long texts in a folder": of(TEXTS, data={"type": "ag-news", "path": "/d", "sequence_length": 640}),
    "many texts in a folder, perhaps": of(TEXTS, data={"type": "imdb", "path": "/d"}, epochs=10_000),
    "long texts": of(TEXTS, data={"type": "imdb", "path": "/d", "sequence_length": 4096}),
    "epochs that workers read in time": of(
        SYNTHETIC | {"epochs": 9}, data=SYNTHETIC["data"] | {"on_device": False, "sample_delay_us": 50_000}
    )
    | {"time_limit_min": 3}
    | {"variants": {name: one | {"input": {"loader": "dataloader", "workers": 2}} for name, one in DDP.items()}},
    "two ways of scaling under two names": PAIR
    | {"workloads": {"w": TIMED | {"scaling": ["weak"]}, "v": TIMED | {"scaling": ["strong"]}}},
    "a budget of repeats": measured(budget_device_hours=0.01),
    "a low accuracy": own(run_to_end=True, target_accuracy=0.01),
    "no advice": reported(target_margin=0) | {"verify": {"most": 0}},
}
"""The same keys where something heeds them."""
