"""The runs of an acceptance: tiny trainings, each with an ordinary spec of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scalestudy.accept.options import variant_of
from scalestudy.accept.pairs import Row
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.study import Study
from scalestudy.study.limits import Limits
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import WORKER, RunSpec
from scalestudy.study.specs import make_spec

STALL_S = 6.0
LIMITS = Limits(time_limit_min=4)
FAULT_LIMITS = Limits(time_limit_min=2, stall_limit_s=STALL_S)
BLOCK = 10
STEPS = {"warmup_steps": 10, "max_warmup_steps": 10, "min_steps": 50, "max_steps": 50, "block_steps": BLOCK}
"""60 steps in 6 blocks. A run does not end earlier, since its precision is first checked after these."""
SHARED, FAILS = "SCALESTUDY_SHARED_DEVICE", "SCALESTUDY_FAILS"
"""Environment variables that train/acceptance/rank.py and demo/failing.py read."""
LOOP_RANK, FAILING_RANK = "scalestudy.train.acceptance.rank", "scalestudy.demo.failing"
DATA = {"type": "synthetic-vectors", "samples": 4096, "features": 64, "classes": 10, "on_device": False}
SGD, ADAM = {"type": "sgd", "learning_rate": 0.01}, {"type": "adam", "learning_rate": 1e-4}
BATCH = 8
NOTHING: Mapping[str, Any] = MappingProxyType({})
NO_LINKS = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}
GIVES_BACK = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
"""Makes glibc return freed memory at once. Otherwise the resident memory of a rank includes what glibc keeps:
0.9 GiB instead of 0.44 GiB for the large model with FSDP, 0.64 instead of 0.61 GiB with DDP."""


def workload(hidden_dim: int, num_layers: int, optimizer: Mapping[str, Any] = SGD) -> dict[str, Any]:
    """Return a workload: a network on vectors from memory. Without epochs, a run ends after its 60 steps."""
    model = {"type": "mlp", "hidden_dim": hidden_dim, "num_layers": num_layers}
    return {"model": model, "data": DATA, "optimizer": optimizer, "batch_size": BATCH, "epochs": 0}


WORKLOADS = {"tiny": workload(64, 3), "link": workload(512, 5), "large": workload(1536, 8, ADAM)}
"""large: 17 million parameters, so that gradients and optimizer state need more memory than the bare process."""


@dataclass(frozen=True)
class Launches:
    """Specs of runs on one machine. devices: ranks of a run. shared: the ranks share the only CUDA device."""

    device: str
    devices: int
    shared: bool = False

    def spec(self, variant: Mapping[str, Any], *, name: str, model: str = "tiny", **given: Any) -> RunSpec:
        """Return the spec of the run of a variant. given: arguments of `study`."""
        study = self.study(variant, name=name, model=model, **given)
        return make_spec(study, model, name, f"1x{self.devices}", BATCH, 1)

    def study(
        self,
        variant: Mapping[str, Any],
        *,
        name: str,
        model: str = "tiny",
        worker: str = "",
        fails: str = "",
        environment: Mapping[str, str] = NOTHING,
        measure: Mapping[str, Any] = NOTHING,
    ) -> Study:
        """Return the study of a variant and one process.

        worker: the module of a rank, if not the usual one. fails: a fault of demo/failing.py.
        """
        variables = dict(environment)
        if self.shared:
            variables |= {SHARED: "1", WORKER: LOOP_RANK}
        if worker:
            variables[WORKER] = worker
        if fails:
            variables[FAILS] = fails
        content = {
            "study": "acceptance",
            "repeats": 1,
            "scales": [f"1x{self.devices}"],
            "variants": {"single": {"strategy": "single"}, name: {"base": "single", **variant}},
            "workloads": {model: WORKLOADS[model] | {"scaling": ["weak"]}},
            "report": {"overhead_reference": False},
            "host": {
                # Too few devices are an error unless ranks share them on purpose.
                "device": "auto" if self.shared else self.device,
                "start": "fork",  # a cold start takes some 12 s on a machine with a GPU
                "environment": variables,
            },
            "measure": {"probe_rounds": 0, "half_width": 0.5} | STEPS | dict(measure),
        }
        return parse_study(content, source=name)

    def combination(self, row: Row, number: int) -> RunSpec:
        """Return the run of a row of the covering array."""
        return self.spec(variant_of(row), name=f"row-{number}")

    def plain(self) -> RunSpec:
        """Return a run of plain DDP."""
        return self.spec({"strategy": "ddp"}, name="plain")

    def probed(self, number: int = 1) -> RunSpec:
        """Return a run of DDP with all probes, and with a plain loop of all-reduces to compare with them."""
        probes = {"probe_rounds": 4, "probe_steps": 6}
        return self.spec(
            {"strategy": "ddp"}, name=f"probed-{number}", model="link", worker=LOOP_RANK, measure=probes
        )

    def without_links(self) -> Plan:
        """Return the plan of DDP with all probes, in which NCCL may use neither peer-to-peer nor host memory."""
        probes = {"probe_rounds": 4, "probe_steps": 6}
        given: dict[str, Any] = {"model": "link", "environment": NO_LINKS, "measure": probes}
        return make_plan(self.study({"strategy": "ddp"}, name="no-links", **given))

    def large(self, strategy: str) -> RunSpec:
        """Return a run of a model whose memory dominates that of the process."""
        few = {"warmup_steps": 2, "max_warmup_steps": 2, "min_steps": 10, "max_steps": 10, "block_steps": 6}
        variables = GIVES_BACK if self.device == "cpu" else NOTHING
        name = f"large-{strategy}"
        return self.spec({"strategy": strategy}, name=name, model="large", environment=variables, measure=few)

    def failing(self, fails: str) -> RunSpec:
        """Return a run whose last rank fails. It has probes only if the fault is in the probes."""
        rounds = 2 if fails == "probe" else 0
        return self.spec(
            {"strategy": "ddp"},
            name=f"fault-{fails}",
            worker=FAILING_RANK,
            fails=fails,
            measure={"probe_rounds": rounds, "probe_steps": 3},
        )
