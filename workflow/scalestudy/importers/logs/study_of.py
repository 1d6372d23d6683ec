"""From imported runs to a study: variants, points, baselines, and the plan that has the runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from scalestudy.errors import UserError
from scalestudy.importers.logs.steps.derive import ImportedRun
from scalestudy.registry.codes import Limit
from scalestudy.study.config.imported import NOT_RUN
from scalestudy.study.config.load import parse_study
from scalestudy.study.config.refusals import NAME
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan, Point
from scalestudy.study.spec import ImportedSpec

LONGEST_NAME = 60
_OF_NAMES = "a name has lower-case letters, digits and hyphens, such as a-b, at most 60 of them"
_IN_TOKENS = "add --sequence-length N, so that work is counted in tokens"
_CORRECT = "correct --batch or --gpus"
SINGLE, DISTRIBUTED = "single", "distributed"
KNOWN = {"ddp": "ddp", "fsdp": "fsdp"}
FLAT, FROM_DEVICES = 1.3, 4
"""A throughput that grows less than this over a factor of devices is perhaps that of one device."""

Scaling = Literal["strong", "weak"]
Key = tuple[str, int, int, int]
"""(variant, nodes, devices, global batch): runs with the same one are repeats."""


@dataclass(frozen=True)
class Imported:
    """A plan, and the run of each of its ids."""

    plan: Plan
    specs: dict[str, ImportedSpec]
    runs: dict[str, ImportedRun]
    remarks: tuple[str, ...]


def study_of(
    runs: Sequence[ImportedRun], name: str, *, scaling: Scaling | None, kept: Sequence[str], workload: str = ""
) -> Imported:
    """Return the study of these runs. kept: digest of each run's file and of what the user said about it.

    workload: name of what was trained; '' for the name of the study.
    The baseline of a variant is its run on the fewest devices, or the run on one device if there is one for all.
    Raises UserError if the runs do not fit together.
    """
    workload = workload or name
    for option, given in (("--study", name), ("--workload", workload)):
        if not (re.fullmatch(NAME, given) and len(given) <= LONGEST_NAME):
            raise UserError(f"{option} {given[:LONGEST_NAME]}: {_OF_NAMES}")
    runs = _of_one_unit(runs)
    groups = _of_one_batch(_groups(runs), scaling)
    bases = _bases(groups, scaling)
    remarks = list(_suspicions(runs))
    kinds = _scalings(groups, bases, scaling, remarks)
    study = _study(name, workload, runs, groups, bases, kinds)
    specs: dict[str, ImportedSpec] = {}
    found: dict[str, ImportedRun] = {}
    ids: dict[Key, tuple[str, ...]] = {}
    for key, places in groups.items():
        made = [_spec(study, key, runs[at], repeat + 1, kept[at]) for repeat, at in enumerate(places)]
        specs |= {spec.run_id: spec for spec in made}
        found |= {spec.run_id: runs[at] for spec, at in zip(made, places, strict=True)}
        ids[key] = tuple(spec.run_id for spec in made)
    points = [
        _point(workload, key, kinds[key[0]] if key[2] > 1 else "reference", ids, bases[key[0]])
        for key in groups
        if key[0] in kinds and key != bases[key[0]]
    ]
    points = [_point(workload, base, kinds[variant], ids, base) for variant, base in bases.items()] + points
    if not bases:  # one size only
        points = [_point(workload, key, "weak", ids, key) for key in groups]
    unique = tuple({(point.runs, point.scaling): point for point in points}.values())
    plan = Plan(study=study, runs=dict(specs), points=unique)
    return Imported(plan=plan, specs=specs, runs=found, remarks=tuple(remarks))


def _of_one_unit(runs: Sequence[ImportedRun]) -> list[ImportedRun]:
    """The runs with work in one unit, such that a device has at least one of it. Raises UserError if that
    fails."""
    made = list(runs)
    units = {run.unit for run in made}
    uneven = [run for run in made if run.global_batch % run.devices]
    if len(units) > 1 or (uneven and units == {"samples"}):
        for run in uneven:  # named before runs whose samples do divide
            if run.unit == "samples" and run.sequence_length is None:
                why = f"{run.global_batch} samples do not divide among {run.devices} devices"
                stated = run.global_batch in (run.log.facts.global_batch, *range(run.devices))
                raise UserError(f"{run.log.name}: {why}; {_IN_TOKENS if stated else _CORRECT}")
        made = [run if run.unit == "tokens" else _in_tokens(run, units) for run in made]
    for run in made:
        if run.global_batch % run.devices:
            raise UserError(
                f"{run.log.name}: a step of {run.global_batch} {run.unit} does not divide among {run.devices}"
                f" devices; {_CORRECT}"
            )
    return made


def _in_tokens(run: ImportedRun, units: set[str]) -> ImportedRun:
    length = run.sequence_length
    if length is None:
        others = "other logs count tokens" if len(units) > 1 else "its work has to be counted in tokens as well"
        raise UserError(f"{run.log.name}: {others}; {_IN_TOKENS}")
    limits = tuple(dict.fromkeys((*run.limits, Limit.TOKENS)))
    return replace(run, global_batch=run.global_batch * length, unit="tokens", limits=limits)


def _groups(runs: Sequence[ImportedRun]) -> dict[Key, list[int]]:
    """Key -> places of its runs, in the order in which they started; smallest first."""
    found: dict[Key, list[int]] = {}
    for at, run in enumerate(runs):
        variant = _name(run.variant) or (SINGLE if run.devices == 1 else DISTRIBUTED)
        found.setdefault((variant, run.nodes, run.devices, run.global_batch), []).append(at)
    for places in found.values():
        places.sort(key=lambda at: (runs[at].started_s if runs[at].started_s == runs[at].started_s else 0.0, at))
    return dict(sorted(found.items(), key=lambda item: (item[0][2], item[0][1], item[0][3], item[0][0])))


def _of_one_batch(groups: dict[Key, list[int]], asked: Scaling | None) -> dict[Key, list[int]]:
    """The same groups, with a variant for each batch where a variant has several on the same devices."""
    sizes: dict[tuple[str, int, int], set[int]] = {}
    for variant, nodes, devices, batch in groups:
        if devices > 1:
            sizes.setdefault((variant, nodes, devices), set()).add(batch)
    weak: dict[str, bool] = {}  # variant with several batches -> whether the names are batches per device
    for variant in {variant for (variant, _, _), batches in sizes.items() if len(batches) > 1}:
        mine = [key for key in groups if key[0] == variant]
        each, whole = len({key[3] // key[2] for key in mine}), len({key[3] for key in mine})
        weak[variant] = asked == "weak" or (asked is None and each <= whole)
    made: dict[Key, list[int]] = {}
    for (variant, nodes, devices, batch), places in groups.items():
        if variant in weak:
            of = f"-batch-per-device-{batch // devices}" if weak[variant] else f"-batch-{batch}"
            variant = variant[: LONGEST_NAME - len(of)] + of
        made[variant, nodes, devices, batch] = places
    return made


def _name(text: str) -> str:
    """A name of a variant as a study may have it: in lower case, other characters become a hyphen."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:LONGEST_NAME].strip("-")


def _bases(groups: dict[Key, list[int]], asked: Scaling | None) -> dict[str, Key]:
    """Variant -> its baseline, for variants on more than one device: the run on one device that most runs fit."""
    alone = [key for key in groups if key[2] == 1]
    found: dict[str, Key] = {}
    for variant, _, devices, _ in groups:
        if devices == 1 or variant in found:
            continue
        others = [key for key in groups if key[0] == variant and key[2] > 1]

        def fit(key: Key, others: list[Key] = others) -> tuple[int, int]:
            """(runs of the better kind of scaling, runs of weak scaling) that have this baseline."""
            weak = sum(other[3] == key[3] * other[2] for other in others)
            strong = sum(other[3] == key[3] for other in others)
            return {"weak": weak, "strong": strong, None: max(weak, strong)}[asked], weak

        mine = [key for key in alone if key[0] == variant] or alone
        found[variant] = max(mine, key=fit) if mine else others[0]
    return found


def _scalings(
    groups: dict[Key, list[int]], bases: dict[str, Key], asked: Scaling | None, remarks: list[str]
) -> dict[str, Scaling]:
    """Variant -> how its batches grow. Points that do not fit are in the plan, and their ratio is no speedup."""
    found: dict[str, Scaling] = {}
    for variant, base in bases.items():
        others = [key for key in groups if key[0] == variant and key != base]
        weak = sum(key[3] * base[2] == base[3] * key[2] for key in others)
        strong = sum(key[3] == base[3] for key in others)
        found[variant] = asked or ("weak" if weak >= strong else "strong")
        fit = weak if found[variant] == "weak" else strong
        if fit < len(others):
            sizes = ", ".join(f"{key[3]} on {key[2]}" for key in (base, *others))
            remarks.append(
                f"{variant}: the batch ({sizes}) is neither constant nor constant per device, so not every ratio"
                " is a speedup"
            )
    return found


def _suspicions(runs: Sequence[ImportedRun]) -> list[str]:
    """Remarks on throughputs that look as if they were of one device."""
    trusted = [run for run in runs if run.has_rate and not run.scope_checked]
    few, many = min(runs, key=lambda run: run.devices), max(runs, key=lambda run: run.devices)
    if many not in trusted or many.devices < FROM_DEVICES * few.devices or few.variant != many.variant != "":
        return []
    if not 1 / FLAT < many.throughput / few.throughput < FLAT:
        return []
    return [
        f"Caution: throughput hardly changes from {few.devices} to {many.devices} devices ({few.throughput:.4g}"
        f" and {many.throughput:.4g} {few.unit}/s): is this per device? Then import with --per device"
    ]


def _study(
    name: str,
    workload: str,
    runs: Sequence[ImportedRun],
    groups: dict[Key, list[int]],
    bases: dict[str, Key],
    kinds: dict[str, Scaling],
) -> Study:
    scales = dict.fromkeys(_scale(key) for key in groups if key[2] > 1)
    variants: dict[str, Any] = {}
    for variant, *_ in groups:
        alone = all(key[2] == 1 for key in groups if key[0] == variant)
        strategy = "single" if alone else KNOWN.get(variant.lower(), "other")
        variants.setdefault(variant, {"strategy": strategy})
        if variant in bases and bases[variant][0] != variant:
            variants[variant] = {"strategy": strategy, "base": bases[variant][0]}
    base = next(iter(bases.values()), next(iter(groups)))
    kinds_of_logs = tuple(dict.fromkeys(run.log.kind for run in runs))
    several = max(map(len, groups.values()))
    content = {
        "study": name,
        "description": f"Imported from: {', '.join(kinds_of_logs)}. Nothing was run by scalestudy.",
        "repeats": several,
        "max_repeats": several,
        "scales": list(scales) or ["1x2"],
        "variants": variants,
        "workloads": {
            workload: {
                "imported": list(kinds_of_logs),
                "unit": runs[0].unit,
                "batch_size": base[3],
                "scaling": list(dict.fromkeys(kinds.values())) or ["weak"],
                "run_to_end": True,
            }
        },
        "measure": {"warmup_steps": 0, "probe_rounds": 0},
        "report": {"overhead_reference": False, "forecast_batches": []},
    }
    return parse_study(content, source=f"--study {name}")


def _scale(key: Key) -> str:
    return f"{key[1]}x{key[2] // key[1]}"


def _spec(study: Study, key: Key, run: ImportedRun, repeat: int, kept: str) -> ImportedSpec:
    variant, nodes, devices, batch = key
    of_variant = study.variants[variant]
    divides = run.accumulation and (batch // devices) % run.accumulation == 0
    return ImportedSpec(
        strategy=of_variant.strategy,
        precision=run.log.facts.precision,
        accumulation_steps=run.accumulation if divides else None,
        workload=next(iter(study.workloads)),
        variant=variant,
        epochs=0,
        nodes=nodes,
        devices_per_node=devices // nodes,
        batch_per_rank=batch // devices,
        repeat=repeat,
        seed=repeat,
        host=study.host,
        measure=study.measure.of_a_launch(),
        profile_steps=0,
        command=(*NOT_RUN, run.log.kind, kept),
        directory=".",
        environment={},
        starts_ranks=True,
        run_to_end=True,
        follows_batch=False,
        allow_equal_batches=True,
    )


def _point(
    workload: str, key: Key, scaling: Scaling | Literal["reference"], ids: dict[Key, tuple[str, ...]], base: Key
) -> Point:
    variant, nodes, devices, batch = key
    each = batch // devices
    alone = next((other for other in ids if other[0] == base[0] and other[2] == 1 and other[3] == each), None)
    assert world_size(_scale(key)) == devices
    return Point(
        workload=workload,
        variant=variant,
        scaling=scaling,
        nodes=nodes,
        devices_per_node=devices // nodes,
        batch_per_rank=each,
        global_batch=batch,
        runs=ids[key],
        base=ids[base],
        equal_batch=ids[alone] if alone else (),
    )
