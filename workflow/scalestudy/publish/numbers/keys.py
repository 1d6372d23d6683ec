"""Keys of numbers: words joined by dots. They stay the same when a study is run again.

    imdb.ddp.strong.n4.speedup              a quantity of a point: four ranks on one node
    imdb.ddp.strong.n4.nodes2.speedup       the same on two nodes
    imdb.single.reference.b16.step_time_ms  one process at a batch that strong scaling gives to a rank
    imdb.ddp.strong.n8.forecast.speedup     a forecast; with .b64 before `forecast` for another batch
    imdb.single.floor.half_width_percent    the baseline `single` compared with identical runs
    imdb.ddp.strong.n4.verified.comm-bound.larger_buckets.after.speedup
                                            tried advice, in its trial; also `before`, `predicted` and `gain`
    effort.imdb.ddp.device_hours            cost of the runs of a variant; shorter keys for a workload or all runs

Names of workloads and variants are lower-case letters, digits and hyphens, so no key needs escaping in LaTeX.
"""

import hashlib
import re
from collections.abc import Iterable

from scalestudy.registry.column import Row
from scalestudy.study.plan import Point

LONGEST = 40  # characters of an operator in a key


def point_key(row: Row) -> str:
    """Key of a point, from a row of any table with a row per point."""
    series = f"{row['workload']}.{row['variant']}"
    if row["scaling"] == "reference":
        return f"{series}.reference.b{row['batch_per_rank']}"
    return f"{series}.{row['scaling']}.{_place(row['world_size'], row['nodes'])}"


def forecast_key(row: Row) -> str:
    """Key of a row of forecasts.csv."""
    batch = f".b{row['batch_per_rank']}" if row["forecast_of"] == "batch" else ""
    return f"{point_key(row)}{batch}.forecast"


def law_key(row: Row, law: str) -> str:
    """Key of the weight of a growth model of the overhead, for a row of forecasts.csv."""
    return f"{forecast_key(row)}.law.{law}_percent"


def factor_key(row: Row) -> str:
    """Key of a row of efficiency_factors.csv."""
    return f"{point_key(row)}.factor.{row['factor']}_percent"


def floor_key(row: Row) -> str:
    """Key of a row of floors.csv."""
    return f"{row['workload']}.{row['variant']}.floor"


def share_key(point: str, kind: str) -> str:
    """Key of a share of a point's step, from its diagnosis."""
    return f"{point}.share.{kind}_percent"


def evidence_key(point: str, cause: str, evidence: str) -> str:
    """Key of the evidence for a cause, from the ids of both."""
    return f"{point}.finding.{cause}.{evidence}"


def weight_key(point: str, cause: str) -> str:
    """Key of the weight of a cause, or of the unexplained part."""
    return evidence_key(point, cause, "weight")


def recommendation_key(point: str, cause: str, recommendation: str) -> str:
    """Key of a recommendation for a cause, from the ids of both; keys of its predictions begin with it."""
    return f"{point}.recommendation.{cause}.{recommendation}"


def verified_key(point: str, cause: str, recommendation: str) -> str:
    """Key of a recommendation that was tried at a point. With `.before` or `.after`: a point of the trial."""
    return f"{point}.verified.{cause}.{recommendation}"


def effort_key(*words: str) -> str:
    """Key of the cost of runs. words: workload and variant (or fewer), then the name of the quantity."""
    return ".".join(["effort", *words])


def operator_key(kind: str, name: str) -> str:
    """Key of an operator (kind `operator`) or collective of a trace, from its name.

    Words are joined by hyphens. If this loses characters, or the name is long, the key ends with a hash of the
    name.
    """
    words = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")
    if words != re.sub(":+", "-", name) or len(words) > LONGEST:
        words = f"{words[:LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    return f"{kind}.{words}"


def key_of(point: Point) -> str:
    """Key of a point of the plan."""
    return point_key(dict(point) | {"world_size": point.world_size})


def aliases(points: Iterable[Point]) -> dict[str, str]:
    """Shorter keys of points, without the kind of scaling, where they can mean only one set of runs."""
    meant: dict[str, list[Point]] = {}
    for point in points:
        if point.scaling != "reference":
            short = f"{point.workload}.{point.variant}.{_place(point.world_size, point.nodes)}"
            meant.setdefault(short, []).append(point)
    return {short: key_of(found[0]) for short, found in meant.items() if len({p.runs for p in found}) == 1}


def slug(name: str) -> str:
    """A name in lower case with hyphens between words."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _place(world_size: int, nodes: int) -> str:
    return f"n{world_size}" + (f".nodes{nodes}" if nodes > 1 else "")
