"""Makes scaling tables as READMEs and papers print them, with the numbers that they are printed from.

All tables are made here. Their styles (headers, units, digits, separators, layouts) are those of published ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

HEADERS = {
    "gpus": (
        "GPUs",
        "gpus",
        "#GPU",
        "# GPUs",
        "Number of GPUs",
        "num_gpus",
        "gpu_num",
        "GPU count",
        "**GPUs**",
        "World size",
    ),
    "nodes": ("Nodes", "# nodes", "num_nodes", "Number of nodes"),
    "gpus_per_node": ("GPUs per node", "GPUs/node", "gpus_per_node"),
    "batch_per_gpu": (
        "Batch size / GPU",
        "Batch size per GPU",
        "per-GPU batch",
        "micro batch size",
        "Local batch size",
    ),
    "accumulation": ("Gradient accumulation", "grad accum", "Accumulation steps"),
    "global_batch": ("Global batch size", "global_batch", "Total batch size"),
    "throughput": (
        "Throughput [img/s]",
        "images/sec",
        "Throughput (samples/s)",
        "Samples/second",
        "Throughput - {p} [img/s]",
    ),
    "per_gpu": ("img/s/GPU", "Throughput per GPU (samples/s)", "tok/s/device"),
    "step_ms": ("Step time (ms)", "step_time_ms", "ms/step", "Time per iteration (ms)"),
    "speedup": ("Speedup", "speed-up", "Speed Up", "reported_speedup", "Speedup vs. 1 GPU", "{w} scaling"),
    "efficiency": ("Efficiency", "Scaling efficiency", "Parallel efficiency", "scaling eff."),
    "precision_speedup": (
        "Throughput speedup (FP32 to mixed precision)",
        "Throughput speedup (FP32 - mixed precision)",
    ),
    "hours": ("Time to train (hours)", "Training time (h)", "Total training time [h]"),
    "model": ("Model", "Network"),
    "memory": ("Memory/GPU", "Peak memory (GB)", "GPU memory [GB]"),
}


@dataclass(frozen=True)
class Number:
    """A number with its decimals as printed."""

    value: float
    decimals: int

    @property
    def last(self) -> float:
        return float(10.0**-self.decimals)

    @property
    def printed(self) -> float:
        return round(self.value, self.decimals)

    def plus(self, amount: float) -> Number:
        return replace(self, value=self.printed + amount)


@dataclass(frozen=True)
class Column:
    """A column: its key of HEADERS, the precision it is of, and its numbers; None is an empty cell."""

    key: str
    cells: tuple[Number | str | None, ...]
    precision: str = ""

    def having(self, row: int, cell: Number | str | None) -> Column:
        return replace(self, cells=(*self.cells[:row], cell, *self.cells[row + 1 :]))


@dataclass(frozen=True)
class Made:
    """A table: its columns, and what is true of it."""

    columns: tuple[Column, ...]
    sizes: tuple[int, ...]
    weak: bool
    called: str = ""
    """'weak' or 'strong' if a header says so."""
    seed: int = 0

    def column(self, key: str, precision: str = "") -> Column | None:
        """Return a column, of any precision if none is named."""
        return next(
            (c for c in self.columns if c.key == key and (not precision or c.precision == precision)), None
        )

    def having(self, column: Column) -> Made:
        """Return the table with another column of the same key and precision."""
        same = (column.key, column.precision)
        return replace(self, columns=tuple(column if (c.key, c.precision) == same else c for c in self.columns))

    def without(self, *keys: str) -> Made:
        return replace(self, columns=tuple(c for c in self.columns if c.key not in keys))


def made(seed: int, need: Sequence[str] = ()) -> Made:
    """Return a consistent table. need: keys of columns that it has to have; the others are chosen at random."""
    choice = random.Random(seed)
    first = choice.choice((1, 1, 1, 1, 2, 4, 8))
    sizes = tuple(first * 2**power for power in range(choice.randint(3, 5)))
    if "efficiency" not in need and choice.random() < 0.2:
        sizes = (sizes[0], *sizes[2:]) if len(sizes) > 3 else sizes
    weak = choice.random() < 0.65
    per_gpu = choice.choice((8, 16, 32, 64, 128, 256))
    whole = per_gpu * sizes[-1] if not weak else 0
    two = "precision_speedup" in need or (choice.random() < 0.25 and not {"step_ms", "per_gpu"} & set(need))
    columns = [Column("gpus", tuple(str(size) for size in sizes))]
    if "nodes" in need or choice.random() < 0.15:
        each = min(8, sizes[0])
        columns += [Column("nodes", tuple(str(size // each) for size in sizes))]
        columns += [Column("gpus_per_node", tuple(str(each) for _ in sizes))]
    batches = [per_gpu if weak else whole // size for size in sizes]
    steps = [1] * len(sizes)
    if "accumulation" in need:
        batches, steps = [per_gpu] * len(sizes), [sizes[-1] // size * 2 for size in sizes]
        weak = False
    with_batch = bool({"batch_per_gpu", "step_ms", "accumulation"} & set(need)) or choice.random() < 0.5
    if with_batch:
        columns.append(Column("batch_per_gpu", tuple(str(batch) for batch in batches)))
    if "accumulation" in need:
        columns.append(Column("accumulation", tuple(str(step) for step in steps)))
    if "global_batch" in need or (with_batch and choice.random() < 0.3):
        total = [batch * step * size for batch, step, size in zip(batches, steps, sizes, strict=True)]
        columns.append(Column("global_batch", tuple(str(batch) for batch in total)))
    base = 10 ** choice.uniform(1.5, 4.5)
    digits = choice.choice((0, 1, 2, 2)) if base > 300 else choice.choice((1, 2, 3))
    decimals, percent = choice.choice((1, 2, 2, 2, 3)), choice.choice((0, 1, 2))
    by_rounded = choice.random() < 0.5
    rates: dict[str, list[Number]] = {}
    faster = choice.uniform(1.3, 2.6)
    for name in ("fp32", "mixed") if two else ("",):
        loss = choice.uniform(0.01, 0.12)
        rates[name] = [
            Number(
                base
                * (faster if name == "mixed" else 1)
                * size
                / (1 + loss * (size / sizes[0] - 1) ** 0.6)
                * choice.uniform(0.995, 1.005),
                digits,
            )
            for size in sizes
        ]
    with_speedup = bool({"speedup"} & set(need)) or choice.random() < 0.75
    with_efficiency = "efficiency" in need or choice.random() < (0.3 if with_speedup else 0.8)
    for name, numbers in rates.items():
        values = [number.printed if by_rounded else number.value for number in numbers]
        ratios = [value / values[0] for value in values]
        columns.append(Column("throughput", tuple(numbers), name))
        if "per_gpu" in need:
            each = tuple(
                Number(number.value / size, max(digits, 1)) for number, size in zip(numbers, sizes, strict=True)
            )
            columns.append(Column("per_gpu", each, name))
        if "step_ms" in need:
            columns.append(_step_times(numbers, batches, sizes, choice))
        if with_speedup:
            first_cell = (
                choice.choice((Number(1.0, decimals), None)) if "first" not in need else Number(1.0, decimals)
            )
            cells = (first_cell, *(Number(ratio, decimals) for ratio in ratios[1:]))
            columns.append(Column("speedup", cells, name))
        if with_efficiency:
            efficiencies = [ratio * sizes[0] / size for ratio, size in zip(ratios, sizes, strict=True)]
            columns.append(Column("efficiency", tuple(Number(e, percent + 2) for e in efficiencies), name))
    if two:
        pairs = zip(rates["mixed"], rates["fp32"], strict=True)
        ratio_cells = tuple(Number(fast.printed / slow.printed, 2) for fast, slow in pairs)
        columns.append(Column("precision_speedup", ratio_cells))
    if choice.random() < 0.3:
        columns.append(Column("memory", tuple(f"{choice.uniform(10, 70):.1f}" for _ in sizes)))
    called = ("weak" if weak else "strong") if with_batch and with_speedup and choice.random() < 0.5 else ""
    return Made(tuple(columns), sizes, weak, called, seed)


def _step_times(
    numbers: Sequence[Number], batches: Sequence[int], sizes: Sequence[int], choice: random.Random
) -> Column:
    decimals = choice.choice((1, 2))
    times = zip(numbers, batches, sizes, strict=True)
    return Column(
        "step_ms", tuple(Number(batch * size / number.value * 1e3, decimals) for number, batch, size in times)
    )


def printed(table: Made) -> tuple[str, str]:
    """Return a table as text, and the suffix of its file. The style depends on its seed."""
    choice = random.Random(table.seed + 1)
    layout = choice.choice(("md", "md", "md", "csv", "semicolon", "tsv", "html", "grid", "across"))
    separator = {
        "md": choice.choice(("", ",", " ")),
        "tsv": choice.choice(("", ",")),
        "html": ",",
        "grid": "",
    }.get(layout, "")
    marks = {"speedup": choice.choice(("", "x", "%", "\u00d7")), "efficiency": choice.choice(("%", "", "%%"))}
    comma = layout == "semicolon"
    headers, cells = [], []
    names = {key: choice.choice(forms) for key, forms in HEADERS.items()}
    for column in table.columns:
        headers.append(_header(names[column.key], column, table))
        cells.append([_cell(cell, column.key, separator, marks, comma=comma) for cell in column.cells])
    if table.called and not any("scaling" in header and "eff" not in header for header in headers):
        headers.append("scaling")
        cells.append([table.called] * len(table.sizes))
    rows = list(zip(*cells, strict=True))
    if choice.random() < 0.15 and layout != "across":
        rows.reverse()
    write: Callable[[list[str], list[tuple[str, ...]]], str] = _WRITERS[layout]
    return write(headers, rows), {"md": ".md", "html": ".html", "grid": ".txt", "across": ".md"}.get(
        layout, ".csv"
    )


def _header(form: str, column: Column, table: Made) -> str:
    name = {"fp32": "FP32", "mixed": "mixed precision"}.get(column.precision, "")
    text = form.replace("{w} scaling", f"{table.called.capitalize()} scaling" if table.called else "Speedup")
    if "{p}" in text:
        return text.replace(" - {p}", f" - {name}" if name else "")
    return f"{text} - {name}" if name else text


def _cell(cell: Number | str | None, key: str, separator: str, marks: dict[str, str], *, comma: bool) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    mark = marks.get(key, "")
    if key == "efficiency" and mark:
        text = f"{cell.value * 100:.{max(cell.decimals - 2, 0)}f}" + ("%" if mark == "%" else "")
    elif key == "speedup" and mark == "%":
        text = f"{cell.value * 100:.{max(cell.decimals - 2, 0)}f}%"
    else:
        text = f"{cell.value:,.{cell.decimals}f}".replace(",", separator) + (mark if key == "speedup" else "")
    return text.replace(".", ",") if comma else text


def _markdown(headers: list[str], rows: list[tuple[str, ...]]) -> str:
    lines = [headers, [":---:"] * len(headers), *rows]
    return "# Results\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\nText below.\n"


def _across(headers: list[str], rows: list[tuple[str, ...]]) -> str:
    turned = list(zip(headers, *rows, strict=True))
    return _markdown(list(turned[0]), [tuple(line) for line in turned[1:]])


def _delimited(delimiter: str) -> Callable[[list[str], list[tuple[str, ...]]], str]:
    def write(headers: list[str], rows: list[tuple[str, ...]]) -> str:
        lines = [headers, *rows]
        return "\n".join(
            delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in line) for line in lines
        )

    return write


def _html(headers: list[str], rows: list[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{header}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"


def _grid(headers: list[str], rows: list[tuple[str, ...]]) -> str:
    lines = [list(map(str, line)) for line in (headers, *rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(headers))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    text = [
        "| " + " | ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    return "\n".join((rule, text[0], rule.replace("-", "="), *text[1:], rule)) + "\n"


_WRITERS = {
    "md": _markdown,
    "csv": _delimited(","),
    "semicolon": _delimited(";"),
    "tsv": _delimited("\t"),
    "html": _html,
    "grid": _grid,
    "across": _across,
}
