"""Do the limits of `scalestudy estimate` hold on published steps?

    python -m bench.estimates             sources left out in turn, the first contact, and half of nominal
    python -m bench.estimates --shares    shares of nominal bandwidth, for analyse/costs/links.py
    python -m bench.estimates --fit       parameters fitted to all sources, for analyse/costs/calibrated.py

tests/data/README.md describes the tables. A source counts as one, whatever its number of steps: in the fit, in
the margin, and in "by source". The margin is conformal: the smallest with which 90 % of (sources + 1) are inside
when each is predicted from the others; the source that is tested never takes part. The fit minimises the
continuous ranked probability score and the interval score of the logarithm of the step.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from published_tables import DATA
from scalestudy.analyse.costs.calibrated import FITTED, LEVELS, Fitted, Parts, drawn_steps_s, limits_s
from scalestudy.analyse.costs.collectives import Link
from scalestudy.analyse.costs.links import KINDS, SHARES, Share, family_of
from scalestudy.analyse.costs.strategies import Setting, ddp_traffic
from scipy.optimize import minimize

Array = NDArray[np.float64]
LATENCY_S = 20e-6
FAMILIES = ("nvlink", "pcie", "rdma", "ethernet")
MISS = 2 / (1 - 0.9)  # of the interval score at 90 %
DRAWS = 512


def shares() -> dict[str, Share]:
    """Return the share of nominal bandwidth of each family, and of all but PCIe, over their sources."""
    table = pd.read_csv(DATA / "published_links.csv")
    table["family"] = [KINDS[link].family for link in table["link"]]
    table["log"] = np.log(table["bus_gb_per_s"] / table["nominal_gb_per_s"])
    found = {}
    for family, rows in [*table.groupby("family"), ("any", table[table["family"] != "pcie"])]:
        each = rows.groupby(["family", "source"])["log"].mean()
        found[str(family)] = Share(round(float(np.exp(each.median())), 3), round(float(each.std()), 3), len(each))
    return found


@dataclass(frozen=True)
class Steps:
    """Published steps, an entry or a row each."""

    source: NDArray[np.str_]
    family: NDArray[np.str_]
    bandwidth: Array
    """Nominal, in bytes/s."""
    devices: Array
    one_s: Array
    measured_s: Array
    parts: Parts

    def __getitem__(self, rows: NDArray[np.bool_]) -> Steps:
        parts = Parts(**{name: np.asarray(value)[rows] for name, value in vars(self.parts).items()})
        mine = {name: value[rows] for name, value in vars(self).items() if name != "parts"}
        return Steps(**mine, parts=parts)

    @property
    def weights(self) -> Array:
        """Weights with which each source counts as one."""
        counts = pd.Series(self.source).map(pd.Series(self.source).value_counts())
        return 1 / counts.to_numpy(dtype=float)

    @property
    def sources(self) -> list[str]:
        """Names of the sources, sorted."""
        return sorted(set(self.source))


def read_steps() -> Steps:
    """Return tests/data/published_steps.csv."""
    table = pd.read_csv(DATA / "published_steps.csv")
    parts = []
    for row in table.itertuples():
        link = Link(LATENCY_S, row.bandwidth_gb_per_s * 1e9)
        setting = Setting(parameters=row.parameters, ranks=row.devices, link=link, dtype=row.dtype)
        parts.append(vars(Parts.of(setting, ddp_traffic(setting))))
    columns = {name: np.array([[part[name]] for part in parts]) for name in parts[0]}
    return Steps(
        source=table["source"].to_numpy(dtype=str),
        family=np.array([KINDS[link].family for link in table["link"]]),
        bandwidth=table["bandwidth_gb_per_s"].to_numpy() * 1e9,
        devices=table["devices"].to_numpy(dtype=float),
        one_s=table["step_one_ms"].to_numpy() / 1e3,
        measured_s=table["step_ms"].to_numpy() / 1e3,
        parts=Parts(**columns),
    )


def drawn(steps: Steps, fitted: Fitted, families: NDArray[np.str_] | None = None) -> Array:
    """Return the drawn steps, a row each."""
    families = steps.family if families is None else families
    of = [SHARES[family] for family in families]
    return drawn_steps_s(
        steps.parts,
        steps.one_s[:, None],
        np.log2(steps.devices)[:, None],
        share=(np.log([share.median for share in of])[:, None], np.array([[share.predictive] for share in of])),
        contention=np.array([[fitted.contention[family]] for family in families]),
        fitted=fitted,
        count=DRAWS,
    )


def limits(steps: Steps, fitted: Fitted, families: NDArray[np.str_] | None = None) -> Array:
    """Return lower limits, medians and upper limits of the logarithms of steps, with the margin."""
    return np.log(limits_s(drawn(steps, fitted, families), steps.one_s, fitted.margin))


def unnamed(steps: Steps) -> NDArray[np.str_]:
    """Return the families that the nominal bandwidths alone suggest."""
    return np.array([family_of(value) for value in steps.bandwidth])


def interval_score(low: Array, high: Array, truth: Array) -> Array:
    """Return the interval score at 90 % of each step, in logarithms: Gneiting and Raftery 2007, JASA 102."""
    return (high - low) + MISS * np.maximum(0, low - truth) + MISS * np.maximum(0, truth - high)


def fit(steps: Steps) -> Fitted:
    """Return parameters fitted to these steps, without a margin."""
    weights, truth = steps.weights, np.log(steps.measured_s)

    def made(values: Array) -> Fitted:
        nvlink, pcie, network, overlap, overlap_spread, other, doubling, spread = (float(x) for x in values)
        means = {"nvlink": nvlink, "pcie": pcie, "rdma": network, "ethernet": network}
        return Fitted(
            {**means, "any": max(nvlink, network), "measured": FITTED.contention["measured"]},
            overlap, overlap_spread, other, doubling, spread, margin=0.0,
        )  # fmt: skip

    def loss(values: Array) -> float:
        if min(values[[0, 1, 2, 4, 7]]) < 0.01 or values[4] > 5:
            return 1e3
        ordered = np.sort(np.log(drawn(steps, made(values))), axis=1)
        count = ordered.shape[1]
        apart = ((2 * np.arange(1, count + 1) - count - 1) * ordered).sum(1) / count**2
        crps = np.abs(ordered - truth[:, None]).mean(1) - apart
        low, _, high = np.quantile(ordered, LEVELS, axis=1)
        each = crps + 0.05 * interval_score(low, high, truth)
        return float(np.average(each, weights=weights) + 0.002 * (values[:3] ** 2).sum())

    start = np.array([0.2, 0.6, 0.3, 0.0, 2.0, 0.01, 0.005, 0.05])
    options = {"maxfev": 400, "xatol": 2e-3, "fatol": 2e-5}
    return made(minimize(loss, start, method="Nelder-Mead", options=options).x)


def conformal(scores: Array, sources: NDArray[np.str_], level: float = 0.9) -> float:
    """Return the smallest margin with which this share of (sources + 1) is inside, each source counted as one."""
    weights = 1 / pd.Series(sources).map(pd.Series(sources).value_counts()).to_numpy(dtype=float)
    order = np.argsort(scores)
    inside = np.cumsum(weights[order]) / (len(set(sources)) + 1)
    enough = np.nonzero(inside >= level - 1e-12)[0]
    return float(scores[order][enough[0] if len(enough) else -1])


def left_out(steps: Steps) -> tuple[dict[str, Fitted], Array]:
    """Return the fit without each source, and of each step by how much it is outside without its source."""
    fits = {source: fit(steps[steps.source != source]) for source in steps.sources}
    scores = np.empty(len(steps.source))
    for source, fitted in fits.items():
        mine = steps.source == source
        low, _, high = limits(steps[mine], fitted)
        truth = np.log(steps.measured_s[mine])
        scores[mine] = np.maximum(low - truth, truth - high)
    return fits, scores


@dataclass(frozen=True)
class Held:
    """Limits of steps, as logarithms, and what was measured."""

    source: NDArray[np.str_]
    low: Array
    high: Array
    truth: Array

    def line(self, what: str) -> str:
        """Return a row of the table in docs/benchmarks.md."""
        inside = (self.low <= self.truth) & (self.truth <= self.high)
        counts = pd.Series(self.source).map(pd.Series(self.source).value_counts()).to_numpy(dtype=float)
        by_source = np.average(inside, weights=1 / counts)
        width = np.exp(np.median(self.high - self.low))
        score = interval_score(self.low, self.high, self.truth).mean()
        steps, sources = len(inside), len(set(self.source))
        return (
            f"| {what} | {steps} | {sources} | {inside.mean():.0%} | {by_source:.0%} | {width:.2f} | {score:.2f} |"
        )


def in_turn(steps: Steps, limits_without: Callable[[str], Array]) -> Held:
    """Return the limits of each source, made without it."""
    low, high = np.empty(len(steps.source)), np.empty(len(steps.source))
    for source in steps.sources:
        mine = steps.source == source
        low[mine], _, high[mine] = limits_without(source)
    return Held(steps.source, low, high, np.log(steps.measured_s))


def half_of_nominal(steps: Steps, known: NDArray[np.bool_], asked: NDArray[np.bool_], *, hidden: bool) -> Array:
    """Return limits by the rule: half of nominal bandwidth, and one factor from the known steps."""
    parts = {name: np.asarray(value)[:, 0] for name, value in vars(steps.parts).items()}
    time = parts["fixed"] + 2 * parts["sent"]
    unhidden = parts["unhidden_fixed"] + 2 * parts["unhidden_sent"]
    left = np.maximum(0, time - unhidden - parts["hideable"] * steps.one_s)
    step = np.log(steps.one_s + (unhidden + left if hidden else time))
    factor = conformal(np.abs(np.log(steps.measured_s) - step)[known], steps.source[known])
    return np.array([step[asked] - factor, step[asked], step[asked] + factor])


def held_back(source: str) -> bool:
    """Say whether a source was held back until the first contact."""
    return int(sha256(source.encode()).hexdigest(), 16) % 3 == 0


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--shares", action="store_true")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--contact", action="store_true", help="Only the first contact.")
    asked = parser.parse_args()
    if asked.shares:
        for family, share in shares().items():
            print(family, share)
        return
    steps = read_steps()
    if asked.fit:
        _, scores = left_out(steps)
        print(replace(fit(steps), margin=conformal(scores, steps.source)))
        return
    print("| limits | steps | sources | inside | by source | upper/lower | score |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    late = np.array([held_back(source) for source in steps.source])
    _, scores = left_out(steps[~late])
    first = replace(fit(steps[~late]), margin=conformal(scores, steps.source[~late]))
    low, _, high = limits(steps[late], first)
    print(Held(steps.source[late], low, high, np.log(steps.measured_s[late])).line("first contact"))
    for source in steps[late].sources:
        mine = steps.source == source
        low, _, high = limits(steps[mine], first)
        print(Held(steps.source[mine], low, high, np.log(steps.measured_s[mine])).line(f"  {source}"))
    for hidden in (False, True):
        low, _, high = half_of_nominal(steps, ~late, late, hidden=hidden)
        words = "as much hidden as possible" if hidden else "nothing hidden"
        print(
            Held(steps.source[late], low, high, np.log(steps.measured_s[late])).line(f"half of nominal, {words}")
        )
    if asked.contact:
        return
    fits, scores = left_out(steps)

    def without(source: str) -> Array:
        rest, mine = steps.source != source, steps.source == source
        return limits(steps[mine], replace(fits[source], margin=conformal(scores[rest], steps.source[rest])))

    def without_kind(source: str) -> Array:
        rest, mine = steps.source != source, steps.source == source
        fitted = replace(fits[source], margin=conformal(scores[rest], steps.source[rest]))
        return limits(steps[mine], fitted, unnamed(steps[mine]))

    all_of = in_turn(steps, without)
    print(all_of.line("sources left out in turn"))
    print(in_turn(steps, without_kind).line("the same, kind of link not given"))
    for family in FAMILIES:
        mine = steps.family == family
        print(
            Held(steps.source[mine], all_of.low[mine], all_of.high[mine], all_of.truth[mine]).line(f"  {family}")
        )
    for hidden in (False, True):

        def rule(source: str, hidden: bool = hidden) -> Array:
            return half_of_nominal(steps, steps.source != source, steps.source == source, hidden=hidden)

        words = "as much hidden as possible" if hidden else "nothing hidden"
        print(in_turn(steps, rule).line(f"half of nominal, {words}"))


if __name__ == "__main__":
    main()
