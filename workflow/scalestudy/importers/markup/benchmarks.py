"""Reads the lines of benchmark programs whose names end with the number of threads.

Go prints `BenchmarkSum-8  400  3300000 ns/op`, Google's library `BM_Sum/threads:8  412 ns  3290 ns  1000`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scalestudy.importers.markup.naming import LONGEST
from scalestudy.importers.raw import RawTable

_FEW = 2
_GO = re.compile(
    r"\s*(?P<name>Benchmark\S*?)(?:-(?P<threads>\d{1,5}))?\s+\d+\s+(?P<value>[\d.]+) (?P<unit>[a-z]s)/op\b.*"
)
_BENCHSTAT = re.compile(
    r"\s*(?P<name>[A-Z][\w/=.]*?)(?:-(?P<threads>\d{1,5}))?\s+"
    r"(?P<value>[\d.]+) ?(?P<unit>ns|us|\u00b5s|\u03bcs|ms|s) ?\u00b1 *\d+ ?%.*"
)
"""What Go's benchstat prints: `ListSnapshot-4  27.0\u00b5s \u00b1 0%`."""
_GOOGLE = re.compile(
    r"\s*(?P<name>\S+?)/threads:(?P<threads>\d{1,5})(?:/\S*)?\s+(?P<value>[\d.e+]+) (?P<unit>[a-z]s)\s+"
    r"[\d.e+]+ [a-z]s\s+\d+.*"
)
_RUST = re.compile(
    r"test (?P<name>\S*?)(?:(?:_|\b)(?:t|threads?|cores?|workers?|procs?)_?(?P<threads>\d{1,5})|"
    r"_(?P<count>\d{1,5})_?(?:t|threads?|cores?|workers?|procs?))\s+\.\.\. bench:\s+"
    r"(?P<value>[\d,.]+) (?P<unit>[a-z]s)/iter.*"
)
"""What Rust's `cargo bench` prints: `test sum_4_threads ... bench: 35,123 ns/iter (+/- 1,200)`."""
_ITEMS = re.compile(r"\bitems_per_second=(?P<rate>[\d.]+[kMG]?)/s")


def benchmark_tables(lines: Sequence[str]) -> Iterator[RawTable]:
    """Yield a table of the lines of each program: threads, name, and time of an operation or items per second."""
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if len(line) <= LONGEST]
    for form in (_GO, _BENCHSTAT, _GOOGLE, _RUST):
        found = [(number, match) for number, line in numbered if (match := form.fullmatch(line))]
        threads = [match["threads"] or match.groupdict().get("count") or "1" for _, match in found]
        if len(set(threads)) < _FEW:
            continue
        rates = [rate["rate"] for _, match in found if (rate := _ITEMS.search(match[0]))]
        units = {match["unit"] for _, match in found}
        times = [f"{match['value']} {match['unit']}" for _, match in found]
        kind = "items/s" if rates else f"time ({units.pop()})" if len(units) == 1 else "time"
        if len(rates) in (0, len(found)):
            cells = zip(threads, (match["name"] for _, match in found), rates or times, strict=True)
            rows = zip((number for number, _ in found), cells, strict=True)
            note = "the CPU time and the iterations of each line are not read" if form is _GOOGLE else ""
            yield RawTable(found[0][0], ("threads", "benchmark", kind), tuple(rows), note=note)
