"""The search of `scalestudy find-batch`: one run per batch size, its record and its printed lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

import yaml

from scalestudy.errors import UserError
from scalestudy.launch.run import measure_run
from scalestudy.measure.batch_search import BatchSearchFile, BatchTrial, search_batch
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text
from scalestudy.record.observation import RunRecord
from scalestudy.record.tables import read_observation
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.load import parse_study, read_content
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

# A trial is one run without probes: differences of a few per cent are enough for the search.
MEASURE = {"half_width": 0.02, "probe_rounds": 0}


def refuse_write(path: Path, files: Sequence[Path], workload: str) -> None:
    """Raise UserError if a file with another batch could not be written or would have no effect."""
    if path.exists():
        raise UserError(f"--write {path}: already exists; name a new file")
    if not files:
        raise UserError("--write needs --study: the written file overrides a key of a study file")
    if workload not in read_content(*files)["workloads"]:
        raise UserError(f"--write: workload {workload} comes from a sweep, which a second file cannot change")


@dataclass(frozen=True)
class Search:
    """A search of the batch per rank for a variant of a workload at a scale."""

    study: Study
    workload: str
    variant: str
    scale: str
    results: Path
    data: Path

    @classmethod
    def of(cls, study: Study, workload: str, variant: str, scale: str | None, results: Path, data: Path) -> Search:
        """Return a search in a study.

        Raises UserError for an unknown workload or variant, a wrong scale, and a script with a fixed batch.
        """
        for key, name, known in (("workload", workload, study.workloads), ("variant", variant, study.variants)):
            if name not in known:
                raise UserError(f"--{key} {name}: not in the study; it has {', '.join(known)}")
        single = study.variants[variant].strategy == "single"
        if single and scale not in (None, "1x1"):
            raise UserError(f"--scale {scale}: variant {variant} is a single process; use --scale 1x1")
        of = study.workloads[workload]
        if isinstance(of, CommandWorkload) and not of.follows_batch:
            raise UserError(
                f"--workload {workload}: its command has neither {{batch_per_rank}} nor {{global_batch}}, so its"
                " batch cannot be changed"
            )
        return cls(study, workload, variant, scale or ("1x1" if single else study.scales[0]), results, data)

    def run(self, first: int | None, most: int | None) -> BatchSearchFile:
        """Search from the first batch up to the largest; the defaults come from the workload.

        Raises UserError if the first batch is larger than the largest one.
        """
        workload = self.study.workloads[self.workload]
        unit = self.study.variants[self.variant].accumulation_steps
        if isinstance(workload, CommandWorkload):
            unit = workload.batches_per_step
        samples = workload.known_train_samples
        limits = {} if samples is None else {samples // world_size(self.scale): "that the data provide"}
        limits |= {most: "that --most allows"} if most else {}
        largest = min(limits, default=None)
        if first and largest is not None and first > largest:
            raise UserError(f"--first {first}: more than the {largest} samples per rank {limits[largest]}")
        begin = first or min(workload.batch_size // 4, largest or workload.batch_size)
        begin = max(unit, begin // unit * unit)
        limit = "" if largest is None else limits[largest]
        return search_batch(self._attempt, first=begin, unit=unit, most=largest, limit=limit)

    def _attempt(self, batch: int) -> BatchTrial:
        spec = self._spec(batch)
        record, _ = measure_run(spec, self.results, limits=self.study.limits, data=self.data)
        trial = BatchTrial(
            run_id=record.run_id,
            batch_per_rank=batch,
            outcome=record.outcome,
            reason=record.reason,
            throughput_samples_per_s=_throughput(self.results / "runs" / spec.run_id, record),
            peak_gib=_peak_gib(record),
        )
        print(_line(trial), flush=True)
        return trial

    def _spec(self, batch: int) -> RunSpec:
        """Return the first run of the variant with this batch per rank, measured until its step time is known."""
        content = self.study.model_dump(mode="json")
        names = {self.variant, self.study.base_of(self.variant)}
        workload = content["workloads"][self.workload]
        if not isinstance(self.study.workloads[self.workload], CommandWorkload):
            workload["optimizer"]["decay"] = "none"  # without epochs there is no end to decay towards
            workload["epochs"] = 0
        workload["target_accuracy"] = None  # nothing is validated
        content |= {
            "repeats": 1,
            "max_repeats": None,
            "scales": [self.scale],
            "variants": {name: content["variants"][name] for name in names},
            "workloads": {self.workload: workload | {"batch_size": batch, "scaling": ["weak"]}},
            "measure": content["measure"] | MEASURE,
        }
        runs = make_plan(parse_study(content, source="the search")).runs.values()
        return next(spec for spec in runs if spec.variant == self.variant and spec.batch_per_rank == batch)

    def report(self, found: BatchSearchFile) -> None:
        """Print the result of the search and write it next to the observations."""
        path = self.results / f"{self.workload}-{self.variant}-{self.scale}.json"
        write_document(path, found)
        print(f"ended: {found.reason}")
        if found.best is None:
            print("no batch completed")
            return
        print(f"enough: {found.best} samples per rank, the smallest tried within 5 % of the largest throughput")
        print(f"largest that ran: {found.largest} samples per rank")
        print(f"written to {path}")

    def write(self, path: Path, batch: int) -> None:
        """Write a study file that sets this batch size of the workload."""
        change = {"workloads": {self.workload: {"batch_size": batch}}}
        head = f"# batch_size found by `scalestudy find-batch` for {self.variant} at {self.scale}.\n"
        write_text(path, head + yaml.safe_dump(change, sort_keys=False))


def _throughput(directory: Path, record: RunRecord) -> float:
    """Return samples per second over all ranks; nan if the run failed."""
    if record.outcome != "ok":
        return nan
    from scalestudy.analyse.run.steps import measured

    return measured(read_observation(directory), confidence=0.95)["throughput_samples_per_s"]


def _peak_gib(record: RunRecord) -> float:
    """Return the peak memory per rank (maximum over ranks) in GiB: allocated on a GPU, resident on a CPU."""
    memories = [rank.memory for rank in record.ranks]
    peaks = [of.peak_resident_gib if of.peak_allocated_gib is None else of.peak_allocated_gib for of in memories]
    return max(peaks, default=nan)


def _line(trial: BatchTrial) -> str:
    head = f"  {trial.batch_per_rank:7d} samples per rank: "
    if trial.outcome == "ok":
        return f"{head}{trial.throughput_samples_per_s:10.4g} samples/s, peak {trial.peak_gib:.2f} GiB"
    return f"{head}{trial.outcome.upper()}: {trial.reason}"
