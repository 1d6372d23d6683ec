"""Whether the instruments agree: hooks, Recorder and adapters with a script's stopwatch, and with our own loop.

    python -m bench.agreement [--steps 400] [--rounds 10]

First, scripts that stamp each update and each wait for a batch themselves (bench/watched) are launched attached,
and each step is compared with its stamps. Then the hand-written loop, attached, and our own train the same network
on the same batches in runs of their own, in the order A, B, B, A; the interval is of 90 %, over rounds. Last,
the steps after which both are stopped since their step time is known.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from launches import succeeded
from numpy.typing import NDArray
from own_scripts import command_spec, launched_script
from scalestudy.analyse.statistics.intervals import mean_on_logs
from scalestudy.record.observation import TRAINING_PHASES
from scalestudy.record.tables import Observation
from scalestudy.study.spec import CommandSpec, RunSpec

from bench.harness import MALLOC
from bench.peers.ours import spec_of_case
from bench.task import CASES, data_of
from bench.watched.common import SIZES

WATCHED = Path(__file__).parent / "watched"
WAYS = {
    "hooks": "plain.py",
    "Recorder": "plain.py --recorder",
    "hooks, HF Trainer": "huggingface.py",
    "adapter, HF Trainer": "huggingface.py --adapter",
    "hooks, Lightning": "lightning_fit.py",
    "adapter, Lightning": "lightning_fit.py --adapter",
}
MEASURE = {"min_steps": 200, "max_steps": 200, "warmup_steps": 20, "max_warmup_steps": 20, "probe_rounds": 0}
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """Steps of a run beside the stamps of its script, without the first step, which has no stamp before it."""

    counts: tuple[int, int]
    """Steps that were recorded, and that the script made."""
    samples: tuple[int, int]
    differences: Numbers
    """Of step times, as shares of the stopwatch's."""
    waits: Numbers
    """Of data waits, in seconds."""
    waited: Numbers
    """Their values by the stopwatch."""

    @property
    def waits_agree(self) -> Numbers:
        """Whether each is within 5 % or 20 us."""
        return np.abs(self.waits) <= np.maximum(0.05 * self.waited, 20e-6)


def compare(way: str, size: str, steps: int, folder: Path) -> Compared:
    """A run of a script that has a stopwatch."""
    script, *flags = WAYS[way].split()
    path = folder / "stopwatch.json"
    words = [script, *flags, "--size", size, "--steps", str(steps), "--stopwatch", str(path)]
    batch = SIZES[size][1]
    found = launched_script(command_spec(" ".join(words), 1, folder=WATCHED, batch_size=batch), folder / "results")
    assert found.record.outcome == "ok", (way, found.record.reason, found.record.log_tail)
    said = json.loads(path.read_text(encoding="utf-8"))
    rows = found.steps[found.steps["phase"].isin(TRAINING_PHASES)]
    stopwatch = np.diff(said["stamps"])
    times, data = rows["step_time_s"].to_numpy()[1:], rows["data_time_s"].to_numpy()
    waited = np.array(said["waits"])
    shifts = [waited[at : at + len(data) - 2] for at in (1, 2)]  # a Trainer may fetch one batch ahead
    nearest = min(shifts, key=lambda wait: float(np.abs(data[1 : 1 + len(wait)] - wait).sum()))
    n = min(len(times), len(stopwatch))
    return Compared(
        counts=(len(rows), len(said["stamps"])),
        samples=(int(rows["samples"].sum()), len(said["stamps"]) * batch),
        differences=times[:n] / stopwatch[:n] - 1,
        waits=data[1 : 1 + len(nearest)] - nearest,
        waited=nearest,
    )


def step_time_s(found: Observation) -> float:
    """Mean of the measured steps."""
    return float(found.steps.loc[found.steps["phase"] == "measured", "step_time_s"].mean())


def own_loop_ratio(case: str, rounds: int, folder: Path) -> list[float]:
    """Step time of the hand-written loop, attached, over that of our own: one number a round of A, B, B, A."""
    steps = 2 * CASES[case].steps
    own, foreign = specs_of(case, steps=steps, epochs=2, measure=MEASURE)
    ratios = []
    for number in range(rounds):
        logs = []
        for place, is_own in enumerate((False, True, True, False)):
            where = folder / f"{number}-{place}"
            found = succeeded(own, where) if is_own else launched_script(foreign, where)
            assert found.record.outcome == "ok", found.record.reason
            logs.append((-1 if is_own else 1) * np.log(step_time_s(found)))
        ratios.append(float(np.exp(sum(logs) / 2)))
    return ratios


def specs_of(case: str, *, steps: int, epochs: int, **study: Any) -> tuple[RunSpec, CommandSpec]:
    """(our own loop, the hand-written one as a script) of the same training."""
    study["host"] = {"device": "cpu", "environment": MALLOC}  # what lies where in memory is to be no difference
    own = spec_of_case(CASES[case], data_of(CASES[case]), epochs=epochs, **study)
    foreign = command_spec(
        f"handwritten.py {case} {steps}",
        1,
        folder=WATCHED,
        batch_size=CASES[case].batch_per_rank,
        environment={"PYTHONPATH": str(WATCHED.parents[1])},
        run_to_end=epochs > 0,
        **study,
    )
    return own, foreign


def steps_until_known(case: str, launches: int, folder: Path) -> tuple[list[int], list[int]]:
    """(steps of our own loop, of the script) after which enough was known; the training would take an hour."""
    both = specs_of(case, steps=10**7, epochs=0, measure={"probe_rounds": 0})
    found: tuple[list[int], list[int]] = ([], [])
    for number in range(launches):
        for is_foreign, spec in enumerate(both):
            where = folder / f"{number}-{is_foreign}"
            launch = launched_script if isinstance(spec, CommandSpec) else succeeded
            record = launch(spec, where).record
            assert record.outcome == "ok", record.reason
            assert record.stopping is not None
            found[is_foreign].append(record.stopping.steps)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS))
    arguments = parser.parse_args()
    print("| step | instrument | steps | samples | step time: all within | within 1 % | mean | data wait agrees |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for size in SIZES:
        for way in arguments.only:
            with tempfile.TemporaryDirectory() as folder:
                found = compare(way, size, arguments.steps, Path(folder))
            off = np.abs(found.differences)
            print(
                f"| {size} | {way} | {found.counts[0]} of {found.counts[1]} | {found.samples[0]} of"
                f" {found.samples[1]} | {100 * off.max():.2f} % | {100 * (off < 0.01).mean():.1f} % |"
                f" {100 * found.differences.mean():+.3f} % | {100 * found.waits_agree.mean():.1f} % |",
                flush=True,
            )
    for case in ("mlp-1ms", "mlp-20ms") if arguments.rounds else ():
        with tempfile.TemporaryDirectory() as folder:
            ratios = own_loop_ratio(case, arguments.rounds, Path(folder))
            mine, its = steps_until_known(case, arguments.rounds, Path(folder))
        of = mean_on_logs(ratios, confidence=0.90)
        print(f"{case}: attached over our own loop {of.value:.4f} [{of.low:.4f}, {of.high:.4f}], 90 %")
        print(
            f"{case}: steps until known: our own loop {sorted(mine)}, a script of an hour {sorted(its)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
