"""Makes pages with a scaling table or a list of one, and knows what is true of each.

The parts of a page are chosen independently: how devices are named, where they stand, what is measured, what else
stands around. All numbers are made here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

KINDS = (
    *(
        "A100",
        "V100",
        "H100",
        "T4",
        "RTX 3090",
        "RTX 4090",
        "A100-80GB",
        "A100 80GB",
        "A100-SXM4-80GB",
        "H100 SXM",
    ),
    *(
        "Tesla V100",
        "V100-32GB",
        "GTX 1080 Ti",
        "1080Ti",
        "RTX 2080 Ti",
        "RTX A6000",
        "A40",
        "L4",
        "L40S",
        "MI250X",
    ),
    *("TITAN Xp", "P100", "K80", "A10G", "B200", "GH200", "Gaudi2", "TPU v3", "Ascend 910", "3090", "4090"),
    *("Tesla P100-PCIE-16GB", "Quadro RTX 6000", "RTX 6000 Ada", "RTX5090"),
)
OF_DEVICES = (
    *(
        "{n} GPUs",
        "{n} GPU",
        "{n}x {kind}",
        "{n}x{kind}",
        "{n} x {kind}",
        "{kind} x{n}",
        "{kind} x {n}",
        "{kind}*{n}",
    ),
    *(
        "{n}*{kind}",
        "{kind}x{n}",
        "{kind} {n}x",
        "{n} {kind}",
        "{n} {kind}s",
        "{n} {kind} GPUs",
        "{kind} ({n} GPUs)",
    ),
    *(
        "{kind} ({n}x)",
        "{kind} (x{n})",
        "{kind} ({n})",
        "({n}) {kind}",
        "{n}-GPU",
        "{n}-GPU ({kind})",
        "{n} GPU(s)",
    ),
    *("{n} NVIDIA {kind}", "{n}x NVIDIA {kind} GPUs", "{n}x GPU", "{n}×GPU", "GPU x {n}", "GPU*{n}", "{n} cards"),
    *("{n} devices", "{n} ranks", "{n} workers", "{kind}, {n} GPUs", "{n} GPUs, {kind}", "{n} GPUs / {kind}"),
    *("{kind} - {n} GPUs", "{n}gpus", "{n}-gpu {kind}", "{kind} {n}-GPU", "{n} ({kind})", "{n} x {kind} GPU"),
)
OF_NODES = (
    *(
        "{nodes}x{each} {kind}",
        "{nodes}x{each}x{kind}",
        "{nodes} nodes x {each} {kind}",
        "{nodes} nodes x {each} GPUs",
    ),
    *("{nodes}n{each}g", "{nodes} nodes × {each} GPUs", "{n}x{kind} ({nodes} nodes)", "{n} ({nodes} nodes)"),
    *("{n} ({nodes}x{each})", "{n} GPUs ({nodes} nodes)", "{n} GPUs / {nodes} nodes", "{n} GPUs on {nodes} nodes"),
    *(
        "{nodes} nodes ({n} GPUs)",
        "{nodes} nodes, {n} GPUs",
        "{nodes} nodes / {n} GPUs",
        "{nodes} nodes ({n} {kind})",
    ),
    *(
        "{nodes} nodes ({n} GPUs total)",
        "{nodes} nodes = {n} GPUs",
        "{nodes}x{each} = {n}",
        "{n} = {nodes}x{each}",
    ),
    *(
        "{n} ({nodes} nodes x {each})",
        "{nodes} nodes - {n} GPUs",
        "{n} GPUs across {nodes} nodes",
        "{nodes}x{each}",
    ),
    *("{n} {kind} ({nodes} nodes)", "{n} {kind} on {nodes} nodes", "{n} {kind}s, {nodes} nodes"),
    *("{nodes} nodes of {each} {kind}", "{nodes} nodes ({each} GPUs each)", "{nodes} x {each}-GPU nodes"),
)
LABELS = (
    *("DDP ({n} GPUs)", "DDP {n} GPUs", "DDP, {n} GPUs", "DDP x{n}", "DDP ({n})", "DDP {n}x{kind}", "{n}-GPU DDP"),
    *("DDP on {n} GPUs", "{n} GPUs (DDP)", "{n}x{kind}, DDP", "ddp_{n}gpu", "ddp-{n}-gpus", "resnet50_{n}gpu"),
    *("Multi-GPU ({n})", "Multi-GPU ({n}x {kind})", "{n} GPUs with DDP", "DDP with {n} {kind}", "DDP @ {n} GPUs"),
    *(
        "torchrun --nproc_per_node={n}",
        "`mpirun -np {n}`",
        "{n} processes (DDP)",
        "DDP: {n} GPUs",
        "Run on {n} {kind}s",
    ),
)
RATES = (
    *("Throughput (images/s)", "images/sec", "img/s", "Throughput (tokens/s)", "tokens/sec", "Samples/s", "FPS"),
    *(
        "Throughput [img/s]",
        "Images per second",
        "Training speed (img/s)",
        "examples/sec",
        "Global throughput (samples/s)",
    ),
)
OF_EACH = (
    *(
        "img/s/GPU",
        "Throughput per GPU (img/s)",
        "tokens/s/GPU",
        "tok/s/device",
        "TFLOPS/GPU",
        "tokens/sec per GPU",
    ),
    *("tokens_per_sec_per_gpu", "TGS (tokens/gpu/second)", "MFU (%)"),
)
TIMES = (
    *(
        "Training time (h)",
        "Time to train (hours)",
        "Total time (min)",
        "Epoch time (s)",
        "Time per epoch (s)",
        "s/epoch",
    ),
    *("Wall time (s)", "Time (s)", "Time [s]", "1 epoch (s)", "epoch_time_s", "Hours", "Runtime (s)"),
)
MODELS = ("ResNet-50", "BERT-base", "GPT-2", "ViT-B/16", "Llama-2-7B", "EfficientNet-B0", "T5-3B", "U-Net")
SENTENCES = (
    *("", "All runs use PyTorch 2.1 with bf16.", "Results were measured on a DGX A100 server.", "See `train.py`."),
    *("Tested on NVIDIA A100 80GB GPUs with NVLink.", "Each run was repeated 3 times.", "AMP was enabled."),
)
TITLES = ("", "## Benchmarks", "## Scaling results", "### Training performance", "# Multi-GPU scaling")
FURTHER = {
    "Memory (GB)": "17.2",
    "Top-1 (%)": "76.3",
    "Epochs": "90",
    "lr": "0.1",
    "Precision": "bf16",
    "Seq len": "2048",
}


@dataclass
class Page:
    """A page, the (devices, speedup) of each series that is in it, and the parts that it is made of."""

    choice: random.Random
    parts: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    truth: list[list[tuple[int, float]]] = field(default_factory=list)

    def pick(self, part: str, options: Sequence[str]) -> str:
        self.parts[part] = self.choice.choice(options)
        return self.parts[part]

    @property
    def text(self) -> str:
        around = [self.parts["title"], "", self.parts["sentence"], ""]
        return "\n".join([*around, *self.lines]) + "\n"


@dataclass(frozen=True)
class Measured:
    """What a page measures: its header, and for each series the value on each number of devices."""

    header: str
    series: tuple[dict[int, float], ...]
    speedups: tuple[dict[int, float], ...]

    def cell(self, series: int, devices: int) -> str:
        value = self.series[series][devices]
        return f"{value:.{0 if value >= 1000 else 1 if value >= 100 else 2}f}"


def measured(page: Page, counts: Sequence[int], series: int) -> Measured:
    """Return measurements whose speedup is a power of the devices."""
    kind = page.pick("kind", ("rate", "of each", "time"))
    header = page.pick("header", {"rate": RATES, "of each": OF_EACH, "time": TIMES}[kind])
    power = page.choice.uniform(0.75, 0.98)
    values, speedups = [], []
    for _ in range(series):
        first = page.choice.uniform(40, 55) if "MFU" in header else page.choice.uniform(200, 900)
        more = {devices: (devices / counts[0]) ** power for devices in counts}
        each = {devices: speedup * counts[0] / devices for devices, speedup in more.items()}
        own = {"rate": more, "of each": each, "time": {devices: 1 / ratio for devices, ratio in more.items()}}[
            kind
        ]
        values.append({devices: first * ratio for devices, ratio in own.items()})
        speedups.append(more)
    page.truth = [list(one.items()) for one in speedups]
    return Measured(header, tuple(values), tuple(speedups))


def devices(page: Page, forms: Sequence[str]) -> dict[int, str]:
    """Return numbers of devices with their names."""
    form = page.pick("form", forms)
    each = page.choice.choice((4, 8))
    kind = page.pick("hardware", KINDS) if "{kind}" in form else ""
    few = page.choice.choice(((1, 2, 4), (1, 2, 4, 8), (1, 4), (2, 4, 8), (8, 16, 32)))
    counts = [nodes * each for nodes in (1, 2, 4)] if "{nodes}" in form else list(few)
    names = {n: form.format(n=n, nodes=n // each, each=each, kind=kind) for n in counts}
    return {
        n: name.replace("1 nodes", "1 node")
        if "{nodes}" in form
        else name.replace("1 GPUs", "1 GPU")
        if n == 1
        else name
        for n, name in names.items()
    }


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def rows_of_devices(page: Page) -> None:
    """A row for each model and number of devices, with further columns and a printed speedup."""
    names = devices(page, (*OF_DEVICES, *OF_NODES))
    models = page.choice.sample(MODELS, page.choice.choice((1, 2)))
    found = measured(page, list(names), len(models))
    further = page.choice.sample(sorted(FURTHER), page.choice.choice((0, 1, 2)))
    header = [page.pick("first header", ("GPUs", "Hardware", "Setup", "Device", "System")), "Model", found.header]
    ratio = page.choice.random() < 0.4
    rows = [
        [
            name,
            model,
            found.cell(at, n),
            *([f"{found.speedups[at][n]:.2f}x"] if ratio else []),
            *map(FURTHER.get, further),
        ]
        for at, model in enumerate(models)
        for n, name in names.items()
    ]
    page.lines = table([*header, *(["Speedup"] if ratio else []), *further], rows)  # type: ignore[arg-type]


def devices_across(page: Page) -> None:
    """A row for each model, and a column for each number of devices; the quantity in the header or above."""
    names = devices(page, (*OF_DEVICES, *OF_NODES))
    models = page.choice.sample(MODELS, page.choice.choice((1, 2, 3)))
    found = measured(page, list(names), len(models))
    place = page.pick("quantity", ("above", "in front", "behind"))
    form = {"above": "{name}", "in front": "{header} ({name})", "behind": "{name} {header}"}[place]
    header = ["Model", *(form.format(name=name, header=found.header) for name in names.values())]
    rows = [[model, *(found.cell(at, n) for n in names)] for at, model in enumerate(models)]
    page.lines = [*([f"{found.header}:", ""] if place == "above" else []), *table(header, rows)]


def below_headings(page: Page) -> None:
    """A table of models for each number of devices, which its heading names."""
    names = devices(page, (*OF_DEVICES, *OF_NODES))
    models = page.choice.sample(MODELS, 3)
    found = measured(page, list(names), len(models))
    for n, name in names.items():
        rows = [[model, found.cell(at, n)] for at, model in enumerate(models)]
        page.lines += [f"### {name}", "", *table(["Model", found.header], rows), ""]


def among_words(page: Page) -> None:
    """Labels that name the devices among other words."""
    names = devices(page, LABELS)
    found = measured(page, list(names), 1)
    header = [page.pick("first header", ("Method", "Configuration", "Run", "Mode", "Experiment")), found.header]
    page.lines = table(header, [[name, found.cell(0, n)] for n, name in names.items()])


def items(page: Page) -> None:
    """A list below the name of the quantity."""
    names = devices(page, (*OF_DEVICES, *OF_NODES))
    found = measured(page, list(names), 1)
    sign = page.pick("sign", (": ", " - ", " — ", " -> "))
    page.lines = [f"{found.header}:", "", *(f"- {name}{sign}{found.cell(0, n)}" for n, name in names.items())]


LAYOUTS: dict[str, Callable[[Page], None]] = {
    one.__name__: one for one in (rows_of_devices, devices_across, below_headings, among_words, items)
}


def made(seed: int) -> Page:
    """Return a page; the same for the same seed."""
    page = Page(random.Random(seed))
    page.pick("title", TITLES)
    page.pick("sentence", SENTENCES)
    LAYOUTS[page.pick("layout", tuple(LAYOUTS))](page)
    return page
