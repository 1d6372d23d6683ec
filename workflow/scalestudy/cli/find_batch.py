"""Find the batch per rank that a variant needs for its throughput, and the largest that fits its memory.

Doubles the batch until memory ends or throughput stops growing, then bisects. Every trial is a launch of its own
and is recorded as one; out of memory is an answer, not a failure.
"""

from __future__ import annotations

import argparse
import sys
from math import nan
from pathlib import Path

import yaml

from scalestudy.cli.study_files import add_study
from scalestudy.errors import UserError
from scalestudy.launch.process import Interrupted
from scalestudy.launch.run import DATA, measure_run
from scalestudy.measure.batch_search import Found, Trial, search_batch
from scalestudy.record.batch_search import BatchSearchFile, BatchTrial
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text
from scalestudy.record.observation import RunRecord, read_observation
from scalestudy.study.config.load import load_study, parse_study, read_content
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec

HELP = "find the batch per rank that is enough, and the largest that fits"
# A trial is one launch, without probes: what it has to tell are some per cent.
MEASURE = {"half_width": 0.02, "probe_rounds": 0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    parser.add_argument("--workload", required=True, help="workload of the study")
    parser.add_argument("--variant", required=True, help="variant of the study")
    parser.add_argument("--scale", help="NODESxDEVICES (default: 1x1 for single, else the first of the study)")
    parser.add_argument(
        "--first", type=int, help="batch per rank to begin with (default: a quarter of batch_size)"
    )
    parser.add_argument("--most", type=int, help="largest batch per rank to try (default: what the data give)")
    parser.add_argument("--write", type=Path, help="write the batch found into this file, as a second study file")
    parser.add_argument("--data", type=Path, default=DATA, help=f"prepared data (default: {DATA})")
    parser.add_argument("--results", type=Path, help="results folder (default: results/STUDY)")


def run(arguments: argparse.Namespace) -> int:
    study = load_study(*arguments.study)
    for key, name, known in (
        ("workload", arguments.workload, study.workloads),
        ("variant", arguments.variant, study.variants),
    ):
        if name not in known:
            raise UserError(f"--{key} {name}: not in the study; it has {', '.join(known)}")
    if arguments.write and arguments.write.exists():
        raise UserError(f"--write {arguments.write}: is there already; name a new file")
    if arguments.write and arguments.workload not in read_content(*arguments.study)["workloads"]:
        raise UserError(f"--write: {arguments.workload} comes from a sweep, which a second file cannot change")
    single = study.variants[arguments.variant].strategy == "single"
    if single and arguments.scale not in (None, "1x1"):
        raise UserError(f"--scale {arguments.scale}: {arguments.variant} is one process, which runs at 1x1")
    scale = arguments.scale or ("1x1" if single else study.scales[0])
    results = (arguments.results or Path("results") / study.name) / "batch_search"
    unit = study.variants[arguments.variant].accumulation_steps
    samples = study.workloads[arguments.workload].data.known_train_samples
    most = arguments.most or (samples // world_size(scale) if samples is not None else None)
    first = arguments.first or study.workloads[arguments.workload].batch_size // 4
    records: dict[int, RunRecord] = {}

    def attempt(batch: int) -> Trial:
        spec = _spec(study, arguments.workload, arguments.variant, scale, batch)
        record, _ = measure_run(spec, results, limits=study.limits, data=arguments.data)
        records[batch] = record
        trial = Trial(batch, record.outcome, _throughput(results / "runs" / spec.run_id, record), record.reason)
        print(_line(trial, record), flush=True)
        return trial

    print(
        f"{arguments.workload}, {arguments.variant} at {scale}: one launch a batch, so some per cent may be chance"
    )
    try:
        found = search_batch(attempt, first=max(unit, first // unit * unit), unit=unit, most=most)
    except Interrupted as stop:
        print("interrupted; the launches that ended are kept", file=sys.stderr)
        return 128 + stop.signum
    _report(arguments, scale, found, records, results)
    return 0 if found.best else 1


def _spec(study: Study, workload: str, variant: str, scale: str, batch: int) -> RunSpec:
    """The first launch of a variant with so many samples a rank, measured until its step time is known."""
    content = study.model_dump(mode="json")
    names = {variant, study.base_of(variant)}
    content |= {
        "repeats": 1,
        "max_repeats": None,
        "scales": [scale] if study.variants[variant].strategy != "single" else ["1x1"],
        "variants": {name: content["variants"][name] for name in names},
        "workloads": {
            workload: content["workloads"][workload] | {"batch_size": batch, "epochs": 0, "scaling": ["weak"]}
        },
        "measure": content["measure"] | MEASURE,
    }
    content["workloads"][workload]["optimizer"]["decay"] = "none"  # there is no end to decay towards
    plan = make_plan(parse_study(content, source="the search"))
    return next(spec for spec in plan.runs.values() if spec.variant == variant and spec.batch_per_rank == batch)


def _throughput(directory: Path, record: RunRecord) -> float:
    """Samples a second over all ranks; nan where there is none."""
    if record.outcome != "ok":
        return nan
    from scalestudy.analyse.run.steps import measured

    return measured(read_observation(directory), confidence=0.95)["throughput_samples_per_s"]


def _peak_gib(record: RunRecord) -> float:
    """Peak memory of a rank, the largest over ranks: allocated on a GPU, resident on a CPU."""
    memories = [rank.memory for rank in record.ranks]
    return (
        max(
            (memory.peak_resident_gib if memory.peak_allocated_gib is None else memory.peak_allocated_gib)
            for memory in memories
        )
        if memories
        else nan
    )


def _line(trial: Trial, record: RunRecord) -> str:
    head = f"  {trial.batch_per_rank:7d} samples a rank: "
    if trial.ok:
        return f"{head}{trial.throughput_samples_per_s:10.4g} samples/s, peak {_peak_gib(record):.2f} GiB"
    return f"{head}{trial.outcome.upper()}: {trial.reason}"


def _kept(trial: Trial, record: RunRecord) -> BatchTrial:
    return BatchTrial(**vars(trial), run_id=record.run_id, peak_gib=_peak_gib(record))


def _report(
    arguments: argparse.Namespace, scale: str, found: Found, records: dict[int, RunRecord], results: Path
) -> None:
    """Say what was found, keep it as an observation, and write it into a study file if asked to."""
    path = results / f"{arguments.workload}-{arguments.variant}-{scale}.json"
    trials = tuple(_kept(trial, records[trial.batch_per_rank]) for trial in found.trials)
    kept = BatchSearchFile(best=found.best, largest=found.largest, reason=found.reason, trials=trials)
    write_document(path, kept)
    print(f"ended: {found.reason}")
    if found.best is None:
        print("no batch came to its end")
        return
    print(f"enough: {found.best} samples a rank; smallest one tried within 5 % of the largest throughput")
    print(f"largest that ran: {found.largest} samples a rank")
    print(f"kept in {path}")
    if arguments.write:
        change = {"workloads": {arguments.workload: {"batch_size": found.best}}}
        head = f"# batch_size as `scalestudy find-batch` found it for {arguments.variant} at {scale}.\n"
        write_text(arguments.write, head + yaml.safe_dump(change, sort_keys=False))
        print(f"written: snakemake --configfile {' '.join(map(str, arguments.study))} {arguments.write}")
