"""Maps of JSON whose keys are numbers of devices, as names or texts around them say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_plain_tables import read, series
from test_printed_habits import ONCE, audited, speedups

RATES = {"1": 410, "2": 779, "4": 1435}
TIMES = {"1": 100.0, "2": 52.6, "4": 28.57}
OTHER = {"1": 50, "2": 90, "4": 160}
ONE_SERIES: dict[str, object] = {
    "name-of-the-map": {"throughput_by_gpus": RATES},
    "name-around": {"by_gpu_count": {"images_per_s": RATES}},
    "only-devices": {"model": "vit", "unit": "s", "gpus": TIMES},
    "note": {"unit": "images/sec", "note": "Keys are the number of GPUs.", "results": RATES},
    "text-of-keys": {"keys": "num_ranks", "epoch_time_s": TIMES},
    "keyed": {"description": "Run time, keyed by number of threads", "time_s": TIMES},
    "labels-of-a-plot": {"xlabel": "number of nodes", "ylabel": "runtime (s)", "measured": TIMES},
    "keys-with-words": {"throughput": {f"{n} GPU{'s' * (n != '1')}": rate for n, rate in RATES.items()}},
    "values-with-units": {"by_gpus": {n: f"{rate} img/s" for n, rate in RATES.items()} | {"8": "OOM"}},
    "beside-a-memory": {"note": "keys are GPUs", "unit": "img/s", "all": RATES, "memory_gb": OTHER},
}


@pytest.mark.parametrize("content", ONE_SERIES.values(), ids=ONE_SERIES)
def test_keys_that_are_devices(tmp_path: Path, content: object) -> None:
    (found,) = audited(tmp_path, json.dumps(content, indent=2))
    assert speedups(found) == ONCE
    assert not found.remarks


SEVERAL: dict[str, object] = {
    "names": {"note": "keys are numbers of GPUs", "unit": "img/s", "results": {"a": RATES, "b": OTHER}},
    "names-within": {"by_gpus": {"a": {"throughput": RATES}, "b": {"throughput": OTHER}}},
    "texts-beside": [{"model": "a", "throughput_by_gpus": RATES}, {"model": "b", "throughput_by_gpus": OTHER}],
    "a-name-of-all": {"name": "run 7", "by_gpus": {"a": {"throughput": RATES}, "b": {"throughput": OTHER}}},
}


@pytest.mark.parametrize("content", SEVERAL.values(), ids=SEVERAL)
def test_names_of_maps_are_labels(tmp_path: Path, content: object) -> None:
    text = json.dumps(content if isinstance(content, dict) else {"runs": content}, indent=1)
    audits, asked, _ = read(tmp_path, text)
    assert not asked
    assert [one.case[:1] for one in audits] == ["a", "b"]
    assert list(series(audits).values()) == [ONCE, [(1, 1.0), (2, 1.8), (4, 3.2)]]


def test_maps_of_several_quantities_are_columns_of_one_table(tmp_path: Path) -> None:
    speedup = {"1": 1.0, "2": 1.9, "4": 3.9}
    (found,) = audited(tmp_path, json.dumps({"time_by_gpus": TIMES, "speedup_by_gpus": speedup, "unit": "s"}))
    assert [remark.kind for remark in found.remarks] == ["speedup"]
    assert found.table.scales[0].row.gpus == 1


def test_what_is_left_out_of_the_maps_is_named(tmp_path: Path) -> None:
    _, _, notes = read(tmp_path, json.dumps(ONE_SERIES["beside-a-memory"]))
    assert "not read: memory_gb" in notes


@pytest.mark.parametrize(
    "content",
    [
        {"throughput": RATES},
        {"throughput_per_gpu": RATES},
        {"note": "keys are batch sizes, measured on 4 GPUs", "throughput": RATES},
        RATES,
    ],
    ids=["nothing-said", "rate-per-device", "other-keys", "no-name"],
)
def test_keys_of_which_nothing_says_that_they_are_devices(tmp_path: Path, content: object) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match="--column 'key=gpus'"):
        read_published(path)


def test_the_numbers_of_a_map_may_have_to_be_named(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"by_gpus": {"a": RATES, "b": OTHER}}), encoding="utf-8")
    with pytest.raises(UserError, match="--column 'value=throughput'"):
        read_published(path)
    audits, _, _ = read(tmp_path, path.read_text(encoding="utf-8"), value="throughput")
    assert series(audits) == {"a": ONCE, "b": [(1, 1.0), (2, 1.8), (4, 3.2)]}


def test_records_with_devices_are_read_beside_maps(tmp_path: Path) -> None:
    records = [{"gpus": int(n), "time_s": time} for n, time in TIMES.items()]
    found = audited(tmp_path, json.dumps({"throughput_by_nodes": OTHER, "runs": records}))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.8), (4, 3.2)], ONCE]
