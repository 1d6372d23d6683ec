"""Prints the efficiency of published trainings in a node: the constants of scalestudy/diagnose/usual.py."""

from __future__ import annotations

import statistics
from collections import defaultdict

from scalestudy.diagnose.usual import Published
from scaling_series import DATA, efficiencies_in_a_node

TRAININGS = DATA.with_name("trainings_on_gpus.txt")
"""Sources whose series are trainings on GPUs."""
FEWEST = 10
"""Fewest sources whose quartiles are printed."""


def computed() -> dict[tuple[str, int], Published]:
    """Of the median of each source: quartiles over sources, in the form of PUBLISHED."""
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    trainings = set(TRAININGS.read_text(encoding="utf-8").splitlines())
    for file in sorted(DATA.parent.glob("scaling_series*.csv")):
        for source, scaling, devices, efficiency in efficiencies_in_a_node(file):
            if source in trainings:
                found[scaling, devices][source].append(efficiency)
    made = {}
    for key in sorted(found):
        of_sources = [statistics.median(values) for values in found[key].values()]
        if len(of_sources) < FEWEST or key[1] not in (2, 4, 8):
            continue
        quarters = statistics.quantiles(of_sources, n=4, method="inclusive")
        made[key] = Published(len(of_sources), *(round(value, 2) for value in quarters))
    return made


if __name__ == "__main__":
    for (scaling, devices), found in computed().items():
        print(f'("{scaling}", {devices}): {found},')
