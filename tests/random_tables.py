"""Tables as nobody would print them, and tables with a few cells that nobody would print; from a seed."""

from __future__ import annotations

import json
from random import Random

HEADERS = [
    "GPUs",
    "#GPUs",
    "Devices",
    "nodes",
    "ranks",
    "world_size",
    "batch size",
    "global batch",
    "model",
    "precision",
    "strategy",
    "epochs",
    "memory",
    "MFU",
    "Throughput (img/s)",
    "tokens/s",
    "samples/s/GPU",
    "speedup",
    "Speedup (x)",
    "efficiency",
    "eff (%)",
    "scaling",
    "TFLOPS",
    "loss",
    "step",
    "iter",
    "time per step (ms)",
    "step time",
    "Epoch time [s]",
    "Total time (min)",
    "wall_time",
    "elapsed time per iteration (ms)",
    " ",
]
CELLS = [
    "0",
    "-1",
    "1",
    "2",
    "3",
    "8",
    "1000",
    "-0.5",
    "1e400",
    "1.2e5",
    "inf",
    "nan",
    "∞",
    "½",
    "１２",
    "0x10",
    "1_000",
    "1,234.5",
    "1.234,5",
    "1 000",
    "~500",
    "500±3",
    "500 (+-3)",
    "85%",
    "-85%",
    "0 %",
    "5x",
    "2x8",
    "8xA100",
    "12:34",
    "1:02:03",
    "3h",
    "10^3",
    "$10^3$",
    "**1.5**",
    "[1.2](http://x)",
    "<b>3</b>",
    "n/a",
    "-",
    "--",
    "",
    "OOM",
    "True",
    "\x00",
    "\u202e1",
    "'",
    '"',
    "|",
    "&",
    "\\\\",
    "+5%",
    "99999999999999999999999999999999",
]
ENCODINGS = (*(6 * ["utf-8"]), "utf-8-sig", "utf-16", "latin-1")
SEPARATORS = {"csv": ",", "tsv": "\t", "txt": "   ", "log": "; "}


def random_table(random: Random) -> tuple[str, bytes]:
    """(extension of the file, its content) of a table."""
    rows = _plausible(random) if random.random() < 0.75 else _anything(random)
    for _ in range(random.choice([0, 0, 1, 2, 5])):
        row = random.choice(rows)
        row[random.randrange(len(row))] = random.choice(CELLS)
    if random.random() < 0.1:
        rows.append(list(random.choice(rows)))
    kind = random.choice([*SEPARATORS, "md", "html", "tex", "jsonl"])
    content = _written(kind, rows).encode(random.choice(ENCODINGS), errors="replace")
    if random.random() < 0.1:
        place = random.randrange(len(content))
        content = content[:place] + bytes([random.randrange(256)]) + content[place + 1 :]
    if random.random() < 0.05:
        content = content[: random.randint(0, len(content))]
    return kind, content


def _plausible(random: Random) -> list[list[str]]:
    """A scaling table in which one column follows the number of devices, with up to three more."""
    devices = [2**power for power in range(random.randint(1, 7))]
    exponent, first = random.uniform(0.6, 1.05), random.uniform(1, 5000)
    measured = random.choice(
        [
            ("Throughput (img/s)", [first * count**exponent for count in devices]),
            ("samples/s/GPU", [first * count ** (exponent - 1) for count in devices]),
            ("Time (s)", [first / count**exponent for count in devices]),
            ("step time (ms)", [first * count ** (1 - exponent) for count in devices]),
            ("speedup", [count**exponent for count in devices]),
        ]
    )
    further = {
        "batch size": [32 for _ in devices],
        "global batch": [32 * count for count in devices],
        "speedup": [f"{count**exponent:.2f}" for count in devices],
        "efficiency": [f"{100 * count ** (exponent - 1):.0f}%" for count in devices],
        "strategy": [random.choice(["ddp", "fsdp"]) for _ in devices],
        "nodes": [max(1, count // 4) for count in devices],
        "model": [random.choice("ab") for _ in devices],
    }
    columns = [(random.choice(["GPUs", "Devices", "num_gpus", "ranks"]), devices)]
    columns += [(measured[0], [f"{value:.2f}" for value in measured[1]])]
    columns += [(name, further[name]) for name in random.sample(list(further), random.randint(0, 3))]
    rows = [list(map(str, row)) for row in zip(*(values for _, values in columns), strict=True)]
    if random.random() < 0.2:
        random.shuffle(rows)
    return [[name for name, _ in columns], *rows]


def _anything(random: Random) -> list[list[str]]:
    width = random.randint(1, 8)
    rows = [[random.choice(CELLS) for _ in range(width)] for _ in range(random.randint(0, 9))]
    return [[random.choice(HEADERS) for _ in range(width)], *rows]


def _written(kind: str, rows: list[list[str]]) -> str:
    head, *body = rows
    if kind == "md":
        return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])
    if kind == "html":
        cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
    if kind == "tex":
        lines = "\n".join(" & ".join(row) + r" \\" for row in rows)
        return f"\\begin{{tabular}}{{{'c' * len(head)}}}\n{lines}\n\\end{{tabular}}"
    if kind == "jsonl":
        return "\n".join(json.dumps(dict(zip(head, row, strict=False))) for row in body)
    return "\n".join(SEPARATORS[kind].join(row) for row in rows)
