"""Data are prepared once, as a whole, and shared; a store contains the data of the files."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from conftest import BIN
from distributions import Server, pack, sha256, write_ag_news, write_big_ag_news
from pydantic import TypeAdapter, ValidationError
from scalestudy.cli.main import main
from scalestudy.errors import UserError
from scalestudy.prepare import store
from scalestudy.prepare.fetch import alone
from scalestudy.prepare.prepare import prepare
from scalestudy.prepare.store import read_store
from scalestudy.study.config.datasets import Data, Dataset, TextFileData

TEXT = bytes(range(256)) * 2


def entry(**keys: Any) -> Dataset:
    return TypeAdapter(Data).validate_python({key: str(v) if key == "path" else v for key, v in keys.items()})


@pytest.fixture
def text(tmp_path: Path) -> TextFileData:
    """A file of 512 bytes that is not prepared yet."""
    (tmp_path / "text.bin").write_bytes(TEXT)
    return entry(type="text-file", path=tmp_path / "text.bin", sequence_length=8, validation_fraction=0.25)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_of_every_byte_the_next_one_is_the_target(
    text: TextFileData, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_CHUNK", 10)  # written in several portions, the last one smaller
    prepare(text, root)
    manifest, arrays = read_store(root, text)
    assert manifest.samples == {"train": 47, "validation": 15}  # of 384 and 128 bytes, less the last one each
    for part, first in (("train", 0), ("validation", 384)):
        inputs, targets = arrays[f"{part}-inputs"], arrays[f"{part}-targets"]
        assert (inputs.dtype, targets.dtype) == (np.int32, np.int64)
        assert inputs.shape == targets.shape == (manifest.samples[part], 8)
        assert bytes(inputs.ravel().tolist()) == TEXT[first : first + inputs.size]
        assert bytes(targets.ravel().tolist()) == TEXT[first + 1 : first + 1 + inputs.size]


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.77])
def test_a_text_that_is_too_short_says_how_many_bytes_it_takes(
    tmp_path: Path, root: Path, fraction: float
) -> None:
    path = tmp_path / "text.txt"
    data = entry(type="text-file", path=path, sequence_length=8, validation_fraction=fraction)
    path.write_bytes(b"")
    with pytest.raises(UserError, match="0 bytes are too few: at least") as caught:
        prepare(data, root)
    needed = int(str(caught.value).split("at least ")[1].split()[0])
    path.write_bytes(b"x" * (needed - 1))
    with pytest.raises(UserError, match=f"{needed - 1} bytes are too few: at least {needed} are needed"):
        prepare(data, root)
    path.write_bytes(b"x" * needed)
    assert min(prepare(data, root).samples.values()) == 1


def test_a_text_may_come_in_an_archive_of_its_own(tmp_path: Path, root: Path, text: TextFileData) -> None:
    folder = tmp_path / "enwik"
    folder.mkdir()
    (folder / "enwik").write_bytes(TEXT)
    packed = text.model_copy(update={"path": str(pack(folder, tmp_path / "enwik.zip"))})
    assert prepare(packed, root).arrays == prepare(text, root).arrays
    (folder / "second").write_bytes(TEXT)
    packed = text.model_copy(update={"path": str(pack(folder, tmp_path / "two.tar.gz"))})
    with pytest.raises(UserError, match=r"two\.tar\.gz: has several files"):
        prepare(packed, root)


def test_some_samples_are_chosen_at_random_and_always_the_same(tmp_path: Path, root: Path) -> None:
    folder = write_big_ag_news(tmp_path, rows=400)
    sizes = {"type": "ag-news", "path": folder, "sequence_length": 4, "vocabulary": 1000}
    whole, few = entry(**sizes), entry(**sizes, max_samples=100)
    assert prepare(few, root).samples == {"train": 100, "validation": 100}
    assert prepare(whole, root).samples == {"train": 400, "validation": 400}
    targets = read_store(root, few)[1]["train-targets"]
    assert set(np.bincount(targets, minlength=4) > 10) == {True}  # of all classes
    vocabulary = json.loads((root / few.store_name / "tokenizer.json").read_text())["model"]["vocab"]
    rows = [int(word.removeprefix("number")) for word in vocabulary if word.startswith("number")]
    assert len(rows) == 100
    assert max(rows) > 300
    assert prepare(few, tmp_path / "again").arrays == prepare(few, root).arrays


def test_a_store_that_is_there_is_kept(text: TextFileData, root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first = prepare(text, root)
    before = (root / text.store_name / "manifest.json").stat()
    assert prepare(text, root) == first
    after = (root / text.store_name / "manifest.json").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert "already prepared, kept" in capfd.readouterr().err
    Path(text.path).unlink()
    assert prepare(text, root) == first  # the files are not needed any more


def test_a_file_that_changed_since_is_not_passed_over(text: TextFileData, root: Path) -> None:
    prepare(text, root)
    Path(text.path).write_bytes(TEXT[::-1])
    with pytest.raises(UserError, match=rf"text\.bin: is not the file from which .*{text.store_name} was"):
        prepare(text, root)


def test_a_manifest_says_what_is_in_the_files(text: TextFileData, root: Path) -> None:
    manifest = prepare(text, root)
    assert manifest.source_sha256 == sha256(TEXT)
    assert manifest.source == text.path
    for name, facts in manifest.arrays.items():
        content = (root / text.store_name / f"{name}.npy").read_bytes()
        assert (facts.bytes, facts.sha256) == (len(content), sha256(content))
    assert {path.name for path in (root / text.store_name).iterdir()} == {
        *(f"{name}.npy" for name in manifest.arrays),
        "manifest.json",
    }


def test_arrays_are_mapped_and_a_change_stays_with_the_process(text: TextFileData, root: Path) -> None:
    prepare(text, root)
    inputs = read_store(root, text)[1]["train-inputs"]
    assert isinstance(inputs, np.memmap)
    inputs[0, 0] = 77
    assert read_store(root, text)[1]["train-inputs"][0, 0] == 0


def test_data_that_were_not_prepared_are_asked_for(text: TextFileData, root: Path) -> None:
    with pytest.raises(
        UserError, match=rf"{text.store_name}: these data have not been prepared: run `scalestudy stage pre"
    ):
        read_store(root, text)


@pytest.mark.parametrize(
    "damage",
    [
        "short array",
        "long array",
        "other type",
        "no array",
        "version",
        "no JSON",
        "unknown key",
        "renamed",
        "no manifest",
    ],
)
def test_a_damaged_store_is_refused_by_name_and_made_anew(text: TextFileData, root: Path, damage: str) -> None:
    expected = prepare(text, root)
    directory = root / text.store_name
    array, manifest = directory / "train-targets.npy", directory / "manifest.json"
    content = json.loads(manifest.read_text())
    if damage == "short array":
        array.write_bytes(array.read_bytes()[:-8])
    elif damage == "long array":
        array.write_bytes(array.read_bytes() + bytes(8))
    elif damage == "other type":
        np.save(array, np.load(array).astype(np.float64))
    elif damage == "no array":
        array.unlink()
    elif damage == "no manifest":
        manifest.unlink()
    else:
        other = {"data": content["data"] | {"sequence_length": 9}}
        change = {"version": {"schema_version": 0}, "unknown key": {"x": 1}, "renamed": other, "no JSON": {}}[
            damage
        ]
        manifest.write_text("hello" if damage == "no JSON" else json.dumps(content | change))
    with pytest.raises(UserError, match=rf"{text.store_name}.*`scalestudy stage prepare`"):
        read_store(root, text)
    assert prepare(text, root) == expected
    assert read_store(root, text)[1]["train-targets"][0, 0] == 1
    assert [path.name for path in root.iterdir() if not path.name.endswith(".lock")] == [text.store_name]


def test_what_a_killed_process_left_is_no_store_and_goes(text: TextFileData, root: Path) -> None:
    partial = root / f".{text.store_name}.partial"
    partial.mkdir(parents=True)
    (partial / "train-inputs.npy").write_bytes(b"half")
    with pytest.raises(UserError, match="have not been prepared"):
        read_store(root, text)
    prepare(text, root)
    assert not partial.exists()
    assert read_store(root, text)[0].samples["train"] == 47


def test_a_source_is_held_to_its_checksum(tmp_path: Path, text: TextFileData, root: Path) -> None:
    wrong = text.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(UserError, match=f"expected {'0' * 64}, found {sha256(TEXT)}"):
        prepare(wrong, root)
    assert not (root / wrong.store_name).exists()
    right = text.model_copy(update={"sha256": sha256(TEXT)})
    assert prepare(right, root).source_sha256 == sha256(TEXT)
    folder = write_ag_news(tmp_path)
    with pytest.raises(UserError, match="a folder, which has no checksum"):
        prepare(entry(type="ag-news", path=folder, sha256="0" * 64), root)
    with pytest.raises(UserError, match=r"data\.path: nowhere: no such file or folder"):
        prepare(entry(type="ag-news", path="nowhere"), root)


def test_data_from_a_server_leave_no_password_in_the_manifest(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    archive = pack(write_ag_news(tmp_path), tmp_path / "ag_news_csv.tar.gz").read_bytes()
    with Server(archive) as server:
        url = f"http://me:password@{server.address}/ag_news_csv.tar.gz?token=zyx"
        data = entry(type="ag-news", url=url, sha256=sha256(archive))
        assert prepare(data, root).samples == {"train": 4, "validation": 2}
        # Other sizes of the same data are another store, and the same file.
        prepare(entry(type="ag-news", url=url, sha256=sha256(archive), sequence_length=8), root)
        assert [path for path, _ in server.asked] == ["/ag_news_csv.tar.gz?token=zyx"]
    text = (root / data.store_name / "manifest.json").read_text()
    assert read_store(root, data)[0].source == f"http://{server.address}/ag_news_csv.tar.gz"
    assert "password" not in text
    assert "zyx" not in text


def test_two_files_are_fetched_each_with_its_checksum(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the store is the same as that of the folder which they would be in."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = write_ag_news(tmp_path)
    train, test = ((folder / name).read_bytes() for name in ("train.csv", "test.csv"))
    with Server(train) as first, Server(test) as second:
        files = {
            "train": {"url": f"http://{first.address}/a/train.csv", "sha256": sha256(train)},
            "test": {"url": f"http://{second.address}/b/test.csv", "sha256": sha256(test)},
        }
        data = entry(type="ag-news", files=files)
        made = prepare(data, root)
        assert made.samples == {"train": 4, "validation": 2}
        assert made.source == f"http://{first.address}/a/train.csv, http://{second.address}/b/test.csv"
        listed = f"{sha256(train)}  train.csv\n{sha256(test)}  test.csv\n"
        assert made.source_sha256 == sha256(listed.encode())
        of_folder = prepare(entry(type="ag-news", path=folder), root)
        assert made.arrays == of_folder.arrays
        files["test"]["sha256"] = "0" * 64
        with pytest.raises(UserError, match=r"b/test\.csv: the fetched file does not have the checksum"):
            prepare(entry(type="ag-news", files=files), root)
        assert [path for path, _ in first.asked] == ["/a/train.csv"] * 2, "another pair is another folder"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"path": "here"}, "path: files is given too; leave out one of them"),
        (
            {"files": None},
            "path: missing; say where the data are: a local path, or a url with its sha256, or the two files",
        ),
        ({"sha256": "0" * 64}, "sha256: is the checksum of an archive; each of `files` has its own"),
        ({"files": {"train": {"url": "http://x/train.csv"}}}, r"files\.train\.sha256\n  Field required"),
    ],
)
def test_one_place_and_a_checksum_for_every_file(changes: dict[str, Any], said: str) -> None:
    file = {"url": "http://x/y.csv", "sha256": "1" * 64}
    with pytest.raises(ValidationError, match=said):
        entry(**{"type": "ag-news", "files": {"train": file, "test": file}} | changes)


def test_two_at_once_make_one_store(tmp_path: Path, text: TextFileData, root: Path) -> None:
    """Both start while a third process has the lock: one of them prepares the store, and the other one uses it."""
    command = [BIN / "scalestudy", "stage", "prepare", "--data-json", text.model_dump_json(), "--data", root]
    logs = [tmp_path / f"{number}.log" for number in range(2)]
    with alone(root / text.store_name):
        started = []
        for log in logs:
            with log.open("w") as handle:
                started.append(subprocess.Popen(command, stdout=handle, stderr=subprocess.STDOUT))
        limit = time.monotonic() + 60
        while not all("waiting" in log.read_text() for log in logs):
            assert time.monotonic() < limit, [log.read_text() for log in logs]
            assert [process.poll() for process in started] == [None, None]
            time.sleep(0.02)
        assert not (root / text.store_name).exists()
    assert [process.wait(timeout=60) for process in started] == [0, 0]
    assert sorted("already prepared, kept" in log.read_text() for log in logs) == [False, True]
    assert read_store(root, text)[0].samples["train"] == 47


def test_the_verb_prepares_what_a_study_needs(
    tmp_path: Path, root: Path, text: TextFileData, content: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    model = {"type": "language-model", "d_model": 8, "heads": 2, "num_layers": 1}
    small = content["workloads"]["mlp"] | {"model": model, "batch_size": 4, "data": text.model_dump(mode="json")}
    other = small | {"data": small["data"] | {"sequence_length": 16}}
    content["workloads"] |= {"lm": small, "lm-again": small | {"epochs": 1}, "long": other}
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump(content))
    command = ["stage", "prepare", "--study", str(study), "--data", str(root)]

    assert main([*command, "--workload", "mlp"]) == 0
    assert "nothing to prepare" in capsys.readouterr().out
    assert main([*command, "--workload", "long"]) == 0
    assert [line.split(" samples")[0] for line in capsys.readouterr().out.splitlines()] == [
        "text-file: 23 train and 7 validation"
    ]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 2  # two workloads share one store
    assert str(root / text.store_name) in out
    assert err.count("already prepared, kept") == 1
    assert main([*command, "--workload", "lmm"]) == 2
    assert "--workload lmm: not in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Invalid JSON"),
        ('{"type": "imbd"}', "'imdb'"),
        (
            '{"type": "imdb", "path": "x", "vocabulary": 2}',
            "vocabulary: Input should be greater than or equal to 8",
        ),
        ('{"type": "imdb"}', "path: missing; say where the data are"),
        ('{"type": "digits"}', "digits: nothing to prepare"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stage", "prepare", "--data-json", text]) == 2
    assert said in capsys.readouterr().err


def test_a_place_that_is_a_file_is_named(tmp_path: Path, text: TextFileData) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file: cannot be written to"):
        prepare(text, tmp_path / "file")
