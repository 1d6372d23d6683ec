"""Overhead of attaching to a script: the same loop with and without our hooks, in alternating blocks.

    python -m bench.attached_cost [--rounds 60] [--launches 5]

A plain loop with a DataLoader, as people write it. Without hooks, torch has its own functions back. Blocks come in
rounds of with, without, without, with, in one process. Intervals at 95 % over runs, of the difference of what
a run has: the median of its blocks' medians, and the mean of its blocks' means, in which what was noted is read
and written. Beside it the start: seconds that a process takes to import torch with and without us, and
its resident memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from scalestudy.analyse.statistics.intervals import mean
from scalestudy.launch.foreign.start import SITE

SIZES = {"about 1.4 ms": (256, 3, 96, 30), "about 20 ms": (1280, 3, 128, 5)}
"""Width, layers and batch of an MLP, and steps of a block: short ones alternate faster than the host drifts."""


def measure(width: int, layers: int, batch: int, steps: int, rounds: int) -> dict[str, float]:
    """Of one process that is attached: median step times in seconds, with and without hooks."""
    import torch
    from torch import nn
    from torch.optim import optimizer as optimizers
    from torch.utils.data import DataLoader, TensorDataset, dataloader

    torch.set_num_threads(1)
    iterators = dataloader._BaseDataLoaderIter
    places = [(torch.autograd, "backward"), (iterators, "__next__"), (iterators, "__init__"), (nn.Module, "eval")]
    wrapped = {place: getattr(*place) for place in places}
    plain = {place: function.__wrapped__ for place, function in wrapped.items()}
    hooks = [optimizers._global_optimizer_pre_hooks, optimizers._global_optimizer_post_hooks]
    kept = [dict(hook) for hook in hooks]

    def switch(*, on: bool) -> None:
        for (owner, name), function in (wrapped if on else plain).items():
            setattr(owner, name, function)
        for hook, entries in zip(hooks, kept, strict=True):
            hook.clear()
            hook.update(entries if on else {})

    model = nn.Sequential(
        nn.Linear(64, width),
        nn.ReLU(),
        *(module for _ in range(layers - 1) for module in (nn.Linear(width, width), nn.ReLU())),
        nn.Linear(width, 10),
    )
    data = TensorDataset(torch.randn(batch * steps, 64), torch.randint(10, (batch * steps,)))
    loader = DataLoader(data, batch_size=batch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def block() -> tuple[float, float]:
        times = []
        begin = time.perf_counter()
        for inputs, targets in loader:
            loss = nn.functional.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            end = time.perf_counter()
            times.append(end - begin)
            begin = end
        return median(times[1:]), sum(times[1:]) / len(times[1:])

    found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for number in range(rounds + 2):
        for on in (True, False, False, True):
            switch(on=on)
            taken = block()
            if number > 1:
                found[on].append(taken)
    switch(on=True)
    medians = {f"median_{'on' if on else 'off'}": median(one for one, _ in found[on]) for on in found}
    means = {f"mean_{'on' if on else 'off'}": float(np.mean([one for _, one in found[on]])) for on in found}
    return medians | means


def attached_environment(folder: Path) -> dict[str, str]:
    """Variables of a process that is attached, without a run around it."""
    asked = {"pin": False, "ranks": 1, "starts_ranks": True, "nodes": 1, "probe_rounds": 0}
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    path = os.pathsep.join([str(SITE), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {"SCALESTUDY_ATTACH": str(folder), "SCALESTUDY_DIRECT": "1", "PYTHONPATH": path}


def launch(*arguments: str, attached: bool) -> str:
    """What a process of this module prints."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if attached:
            environment |= attached_environment(Path(folder))
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout


START = "import time; b = time.perf_counter(); import torch, resource; print(time.perf_counter() - b, {})".format(
    "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--one", nargs=5, type=int, help="width, layers, batch, steps, rounds: in this process")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one)))
        return
    print("| step | off (ms) | | on - off (us) | on / off - 1 |\n| --- | --- | --- | --- | --- |")
    for name, size in SIZES.items():
        rounds = arguments.rounds * 30 // size[-1]
        words = ["-m", "bench.attached_cost", "--one", *map(str, size), str(rounds)]
        found = [json.loads(launch(*words, attached=True)) for _ in range(arguments.launches)]
        for of in ("median", "mean"):
            off = np.array([one[f"{of}_off"] for one in found])
            more = np.array([one[f"{of}_on"] for one in found]) - off
            extra, share = (mean(values, confidence=0.95) for values in (more * 1e6, 100 * more / off))
            said = [f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in (extra, share)]
            print(f"| {name} | {off.mean() * 1e3:.3f} | {of} | {said[0]} | {said[1]} % |", flush=True)
    starts: dict[bool, list[list[float]]] = {True: [], False: []}
    for _ in range(2 * arguments.launches):
        for attached in (True, False):
            starts[attached].append([float(word) for word in launch("-c", START, attached=attached).split()])
    seconds, memory = (
        mean(np.array(starts[True])[:, at] - np.array(starts[False])[:, at], confidence=0.95) for at in (0, 1)
    )
    print(f"\nstart: {seconds.value:.3f} [{seconds.low:.3f}, {seconds.high:.3f}] s more")
    print(f"resident memory: {memory.value:.1f} [{memory.low:.1f}, {memory.high:.1f}] MiB more")


if __name__ == "__main__":
    main()
