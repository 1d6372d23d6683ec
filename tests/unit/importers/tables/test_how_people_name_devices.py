"""How people name devices in cells, labels and headers: every form has its number, its nodes and its hardware."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.labels import count_in_words, count_or_none
from test_plain_tables import read, series

FORMS = """
    4 A100 GPUs; 4; ; A100
    4x A100 GPUs; 4; ; A100
    1 node (4 A100 GPUs); 4; 1; A100
    2 nodes (8 A100 GPUs); 8; 2; A100
    2 nodes (16 RTX 3090 GPUs); 16; 2; RTX 3090
    2 nodes, 4 A100 GPUs each; 8; 2; A100
    2 nodes (8 GPUs each); 16; 2
    Two nodes (8 GPUs each); 16; 2
    one node, eight GPUs; 8; 1
    single-node 8-GPU; 8
    2 nodes x 4 A100; 8; 2; A100
    2 nodes × 8 H100 GPUs; 16; 2; H100
    2 Nodes / 16 GPUs; 16; 2
    2 nodes / 8 tasks per node; 16; 2
    1 GPU per node, 4 nodes; 4; 4
    1 Node (8 CPU Threads); 8; 1
    4 RTX 4090 GPUs; 4; ; RTX 4090
    RTX 3090 x 2; 2; ; RTX 3090
    4 GTX 1080 Ti GPUs; 4; ; GTX 1080 Ti
    1 GeForce RTX 2080 Ti; 1; ; GeForce RTX 2080 Ti
    8 T4 GPUs; 8; ; T4
    8 Tesla T4; 8; ; Tesla T4
    8 Gaudi2 cards; 8; ; Gaudi2
    4 TPUv3 cores; 4; ; TPUv3
    TPU-v5e-16; 16; ; v5e
    single A100 GPU; 1; ; A100
    two A100 GPUs; 2; ; A100
    dual A100; 2; ; A100
    4 GPUs (A100); 4; ; A100
    8 GPUs (A100-SXM4-80GB); 8; ; A100-SXM4-80GB
    V100 (8 GPUs); 8; ; V100
    8 A100s; 8; ; A100
    16 V100s (2 nodes); 16; 2; V100
    16 GCDs (8 MI250X); 16; ; 8 MI250X
    8 MI250X (16 GCDs); 16; ; MI250X
    DDP on 4 A100 GPUs; 4; ; A100
    FSDP (8 H100 GPUs); 8; ; H100
    4 MPI ranks; 4
    4 MPI ranks x 8 OpenMP threads; 32
    4 MPI x 8 OMP; 32
    2 sockets x 32 cores; 64
    4 processes × 2 threads; 8
    2 workers with 4 GPUs each; 8
    2 workers (1 GPU each); 2
    4 Workers (2 Threads/Worker); 8
    4 workers (2 GPUs); 4
    8 physical cores; 8
    8 P-cores; 8
    8 vCPU; 8
    OpenMP 8; 8
    MPI 16; 16
    OMP_NUM_THREADS=8; 8
    -N 2 -n 16; 16
    ntasks=16; 16
    8_gpus; 8
    resnet50_4gpu_fp16; 4
    run_n8; 8
    N=1024, p=4; 4
    n_jobs=4; 4
    num_gpus: 4; 4
    4 GPU(s); 4
    2 CPUs x 16 cores; 32
    3090×4; 4; ; 3090
    4×3090; 4; ; 3090
    4x Titan X; 4; ; Titan X
    TITAN X x4; 4; ; TITAN X
    GPT-3 175B on 1024 A100s; 1024; ; A100
    GPT-2 1.5B, 8 nodes × 8 GPUs; 64; 8
    ZeRO-3 x8; 8
    DDP, ZeRO-3 x8; 8
    8 GPUs fp16; 8
    8 GPUs (bf16); 8
    单线程; 1
    8线程; 8
    4核; 4
    16进程; 16
    单卡A100; 1; ; A100
    8 × A100卡; 8; ; A100
    1 Prozess; 1
    4 Prozesse; 4
    8 hilos; 8
    1 núcleo; 1
    8 потоков; 8
    1 ядро; 1
    8 スレッド; 8
    8스레드; 8
"""


def _parts(line: str) -> tuple[str, int, int | None, str]:
    text, gpus, nodes, hardware = [*(part.strip() for part in line.split(";")), "", ""][:4]
    return text, int(gpus), int(nodes) if nodes else None, hardware


@pytest.mark.parametrize("line", [*filter(None, map(str.strip, FORMS.splitlines()))])
def test_a_cell_or_label_has_its_devices(line: str) -> None:
    text, gpus, nodes, hardware = _parts(line)
    found = count_or_none(text)
    assert found is not None
    assert (found.gpus, found.hardware) == (gpus, hardware)
    assert nodes in (None, found.nodes)


@pytest.mark.parametrize(
    "text", ["A100 GPU", "A100 80GB GPU", "DDP A100 GPUs", "RTX 4090", "1/4 node", "四机三十二卡", "A100卡"]
)
def test_the_number_of_a_kind_of_device_is_no_count(text: str) -> None:
    assert count_or_none(text) is None


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("4 A100 GPUs", 4),
        ("4 RTX 4090 GPUs", 4),
        ("2x RTX 3090", 2),
        ("1× RTX A6000", 1),
        ("single A100 GPU", 1),
        ("two A100 GPUs", 2),
        ("8 Gaudi2 cards", 8),
    ],
)
def test_a_header_has_its_devices(text: str, gpus: int) -> None:
    found = count_of_header(text)
    assert found is not None
    assert found[0].gpus == gpus


def test_a_strategy_in_front_of_the_devices_is_kept() -> None:
    assert [count_or_none(text).words for text in ("DDP (8 GPUs)", "FSDP (8 A100)")] == ["DDP", "FSDP"]
    assert count_in_words("DDP on 4 A100 GPUs").words == "DDP"


def test_the_devices_of_one_node_are_those_of_the_others(tmp_path: Path) -> None:
    text = """
| Setup | tokens/s |
|---|---|
| 1 node (4 GPUs) | 1000 |
| 2 nodes | 1900 |
| 4 nodes | 3700 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [*series(audits).values()] == [[(4, 1.0), (8, 1.9), (16, 3.7)]]


def test_speedups_in_per_cent_that_follow_as_efficiencies_are_these(tmp_path: Path) -> None:
    text = """
| GPUs | Model | Time | 加速比 |
|---|---|---|---|
| 1 | A | 100 s | 100% |
| 2 | A | 53 s | 94.3% |
| 4 | A | 28 s | 89.3% |
| 1 | B | 210 s | 100% |
| 2 | B | 110 s | 95.5% |
| 4 | B | 60 s | 87.5% |
"""
    audits, _, _ = read(tmp_path, text)
    assert [found[-1] for found in series(audits).values()] == [(4, 3.57), (4, 3.5)]
    assert not any(audit.remarks for audit in audits)


def test_a_duration_of_several_parts_may_have_its_speedup_in_brackets(tmp_path: Path) -> None:
    text = """
| Cores | Training time |
|---|---|
| 1 | 3d 16h |
| 4 | 1d 9h (2.67×) |
| 16 | 10h 5m (8.73×) |
"""
    audits, _, _ = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (4, 2.67), (16, 8.73)]]
    assert not any(audit.remarks for audit in audits)
