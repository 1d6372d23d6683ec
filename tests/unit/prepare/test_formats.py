"""Every official format is read unchanged, and malformed, missing or truncated files are refused by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributions import (
    NEWS,
    REVIEWS,
    cifar_records,
    pack,
    write_ag_news,
    write_cifar,
    write_imdb,
    write_tree,
)
from pydantic import TypeAdapter
from scalestudy.errors import UserError
from scalestudy.prepare import cifar
from scalestudy.prepare.prepare import prepare
from scalestudy.prepare.store import Manifest, Samples, read_store
from scalestudy.prepare.tokens import encode
from scalestudy.study.config.datasets import Data
from tokenizers import Tokenizer


def prepared(root: Path, **entry: Any) -> tuple[Manifest, dict[str, np.ndarray]]:
    """Prepare an entry of data, and read it as training does."""
    data = TypeAdapter(Data).validate_python({key: str(v) if key == "path" else v for key, v in entry.items()})
    prepare(data, root)
    return read_store(root, data)


def texts_of(root: Path, arrays: dict[str, np.ndarray], part: str) -> list[str]:
    """The words behind the tokens of a part."""
    tokenizer = Tokenizer.from_file(str(next(root.glob("*/tokenizer.json"))))
    return [tokenizer.decode(row[row != 0].tolist()) for row in arrays[f"{part}-inputs"]]


IMDB = {"type": "imdb", "sequence_length": 12, "vocabulary": 100}
NEWS_ENTRY = {"type": "ag-news", "sequence_length": 24, "vocabulary": 100}


@pytest.mark.parametrize("form", ["the tree", "its parent", "aclImdb_v1.tar.gz", "a.tgz", "a.tar", "a.zip"])
def test_imdb_texts_and_classes(tmp_path: Path, form: str) -> None:
    tree = write_imdb(tmp_path / "source")
    path = {"the tree": tree, "its parent": tree.parent}.get(form) or pack(tree, tmp_path / form)
    manifest, arrays = prepared(tmp_path / "data", **IMDB, path=path)
    assert texts_of(tmp_path / "data", arrays, "train") == [
        "a dull film . it ' s dull .",
        "the plot is dull",
        "dull , dull , dull !",
        "a fine film , fine acting",
        "fine café , fine plot",
    ]
    assert arrays["train-targets"].tolist() == [0, 0, 0, 1, 1]
    assert texts_of(tmp_path / "data", arrays, "validation") == ["dull acting", "a fine [UNK]", "fine"]
    assert arrays["validation-targets"].tolist() == [0, 1, 1]
    assert arrays["train-inputs"].dtype == np.int32
    assert arrays["train-targets"].dtype == np.int64
    assert manifest.samples == {"train": 5, "validation": 3}
    assert manifest.texts.validation_unknown_share == pytest.approx(1 / 6)


def test_imdb_lacks_a_folder(tmp_path: Path) -> None:
    some = {name: text for name, text in REVIEWS.items() if not name.startswith("test/neg")}
    tree = write_tree(tmp_path / "aclImdb", some)
    for source in (tree, pack(tree, tmp_path / "a.tar.gz")):
        with pytest.raises(UserError, match=r"has no test/neg/\*\.txt, which is part of .*aclImdb") as caught:
            prepared(tmp_path / "data", **IMDB, path=source)
        assert str(source) in str(caught.value)


def test_imdb_with_a_review_that_is_no_text(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "aclImdb", REVIEWS | {"train/pos/2_8.txt": b"caf\xe9"})
    with pytest.raises(UserError, match=r"train/pos/2_8\.txt: not UTF-8 text: byte 3 is 0xe9"):
        prepared(tmp_path / "data", **IMDB, path=tree)


def test_ag_news_with_quotes_commas_backslashes_and_line_breaks(tmp_path: Path) -> None:
    folder = write_ag_news(tmp_path / "source")
    for name, path in {"folder": folder, "archive": pack(folder, tmp_path / "ag_news_csv.tar.gz")}.items():
        _, arrays = prepared(tmp_path / name, **NEWS_ENTRY, path=path)
        assert texts_of(tmp_path / name, arrays, "train") == [
            "wall st . bears ( reuters ) reuters - short - sellers , dwindling band of ultra - cynics",
            'the " next " chip it is # 36 ; 5 , they say',
            'talks on the border a line break , and " quotes "',
            "cup final home side wins",
        ]
        assert arrays["train-targets"].tolist() == [2, 3, 0, 1]
        assert arrays["validation-targets"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('"2","only two"', r"line 6: .*it has 2 columns: 2,only two"),
        ('"2","a","b","c"', r"line 6: .*it has 4 columns"),
        ('"0","a","b"', r"line 6: the class must be 1, 2, 3 or 4, not '0'"),
        ('"World","a","b"', r"line 6: the class must be 1, 2, 3 or 4, not 'World'"),
        ('"2","a","b" c"', r"line 6: not a row of a CSV file"),
        ('"2","a","never closed', r"line 6: not a row of a CSV file"),
    ],
)
def test_a_malformed_row_is_named_with_its_line(tmp_path: Path, row: str, said: str) -> None:
    """It is row 5, on line 6: one row before it takes two lines."""
    folder = write_tree(tmp_path / "ag_news_csv", NEWS | {"train.csv": f"{NEWS['train.csv']}{row}\n"})
    with pytest.raises(UserError, match=r"train\.csv, " + said):
        prepared(tmp_path / "data", **NEWS_ENTRY, path=folder)


def test_an_empty_part_is_refused(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "ag_news_csv", NEWS | {"test.csv": ""})
    with pytest.raises(UserError, match="no samples for validation"):
        prepared(tmp_path / "data", **NEWS_ENTRY, path=folder)


@pytest.mark.parametrize("classes", [10, 100])
def test_cifar_images_and_classes(tmp_path: Path, classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar, "_CHUNK", 3)  # counted in several portions, the last one smaller
    folder, train, test = write_cifar(tmp_path / "source", classes=classes)
    archive = pack(folder, tmp_path / f"cifar-{classes}-binary.tar.gz")
    manifest, arrays = prepared(tmp_path / "data", type="cifar", classes=classes, path=archive)
    first = 1 if classes == 10 else 2
    pixels = train[:, first:].reshape(-1, 3, 32, 32) / 255
    mean, std = pixels.mean(axis=(0, 2, 3)), pixels.std(axis=(0, 2, 3))
    for part, records in {"train": train, "validation": test}.items():
        images = records[:, first:].reshape(-1, 3, 32, 32) / 255
        expected = (images - mean[:, None, None]) / std[:, None, None]
        np.testing.assert_allclose(arrays[f"{part}-inputs"], expected, atol=1e-5)
        assert arrays[f"{part}-targets"].tolist() == records[:, first - 1].tolist()
    assert arrays["train-inputs"].dtype == np.float32
    assert manifest.images.mean == pytest.approx(mean)
    assert manifest.images.std == pytest.approx(std)


def test_cifar_files_that_are_short_missing_or_of_another_kind(tmp_path: Path) -> None:
    folder, *_ = write_cifar(tmp_path, classes=10)
    entry = {"type": "cifar", "path": folder}
    batch = folder / "data_batch_3.bin"
    whole = batch.read_bytes()
    batch.write_bytes(whole[:-1])
    with pytest.raises(UserError, match=r"data_batch_3\.bin: 6145 bytes is not a multiple of 3073"):
        prepared(tmp_path / "data", **entry)
    batch.write_bytes(b"")
    with pytest.raises(UserError, match=r"data_batch_3\.bin: 0 bytes"):
        prepared(tmp_path / "data", **entry)
    records = cifar_records(2, classes=10, seed=1)
    records[1, 0] = 10
    batch.write_bytes(records.tobytes())
    with pytest.raises(
        UserError, match=r"data_batch_3\.bin: record 2 has class 10; the classes of CIFAR-10 are 0 to 9"
    ):
        prepared(tmp_path / "data", **entry)
    batch.unlink()
    with pytest.raises(UserError, match=r"has no data_batch_3\.bin"):
        prepared(tmp_path / "data", **entry)


@pytest.mark.parametrize("kind", [".tar.gz", ".tar", ".zip"])
def test_an_archive_that_is_cut_anywhere_is_refused(tmp_path: Path, kind: str) -> None:
    """Between two files too, where `tarfile` sees nothing wrong and texts would just be fewer."""
    whole = pack(write_imdb(tmp_path), tmp_path / f"whole{kind}").read_bytes()
    cut = tmp_path / f"cut{kind}"
    data_end = len(whole.rstrip(b"\0")) if kind == ".tar" else len(whole)
    step = 512 if kind == ".tar" else max(1, len(whole) // 60)
    for size in range(600 if kind == ".tar" else 20, data_end, step):
        cut.write_bytes(whole[:size])
        with pytest.raises(UserError, match="truncated or damaged") as caught:
            prepared(tmp_path / "data", **IMDB, path=cut)
        assert str(cut) in str(caught.value)
    assert size > 0.9 * data_end


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    archive = pack(write_imdb(tmp_path), tmp_path / "a.tar.gz")
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.tar\.gz: truncated or damaged"):
        prepared(tmp_path / "data", **IMDB, path=archive)


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    plain = tmp_path / "reviews.txt"
    plain.write_text("hello " * 200)
    with pytest.raises(UserError, match=r"reviews\.txt: neither a folder nor a \.tar\.gz, .* archive"):
        prepared(tmp_path / "data", **IMDB, path=plain)


def test_an_archive_with_the_distribution_twice_is_refused(tmp_path: Path) -> None:
    """A backup in it would double the data in silence."""
    write_imdb(tmp_path / "both")
    write_imdb(tmp_path / "both/backup")
    with pytest.raises(UserError, match=r"twice: under 'both/aclImdb/' and under 'both/backup/aclImdb/'"):
        prepared(tmp_path / "data", **IMDB, path=pack(tmp_path / "both", tmp_path / "a.zip"))


def test_what_macos_puts_beside_files_is_left_out(tmp_path: Path) -> None:
    tree = write_tree(write_imdb(tmp_path), {"train/pos/._0_9.txt": b"\x00\x05\xff"})
    for source in (tree, pack(tree, tmp_path / "a.zip")):
        assert prepared(tmp_path / "data", **IMDB, path=source)[0].samples["train"] == 5


def encoded(train: list[str], validation: list[str], **sizes: int) -> Any:
    parts = {"train": train, "validation": validation}
    return encode({part: Samples(texts, np.zeros(len(texts))) for part, texts in parts.items()}, **sizes)


def test_the_commonest_words_get_the_tokens(tmp_path: Path) -> None:
    parts, tokenizer, facts = encoded(["c b a z", "z c b", "z d"], ["a b c d z"], vocabulary=6, sequence_length=6)
    words = json.loads(tokenizer)["model"]["vocab"]
    assert words == {"[PAD]": 0, "[UNK]": 1, "z": 2, "b": 3, "c": 4, "a": 5}  # a before d: equally common
    assert parts["validation"].inputs.tolist() == [[5, 3, 4, 1, 2, 0]]
    assert facts.vocabulary == 6
    assert facts.validation_unknown_share == pytest.approx(1 / 5)


def test_texts_are_cut_or_padded_and_the_manifest_says_how_many(tmp_path: Path) -> None:
    parts, _, facts = encoded(["a a a a a", "a a", "a a a a"], ["", "a"], vocabulary=8, sequence_length=4)
    assert parts["train"].inputs.tolist() == [[2, 2, 2, 2], [2, 2, 0, 0], [2, 2, 2, 2]]
    assert facts.cut_share == pytest.approx(1 / 5)
    assert parts["validation"].inputs.tolist() == [[1, 0, 0, 0], [2, 0, 0, 0]]  # never padding alone


def test_a_text_that_names_the_special_tokens_stays_a_text() -> None:
    parts, tokenizer, _ = encoded(["[PAD] [UNK] a", "[ ] pad unk"], ["[PAD]"], vocabulary=20, sequence_length=8)
    tokens = parts["train"].inputs[0]
    assert 0 not in tokens[:7]
    assert Tokenizer.from_str(tokenizer).decode(tokens[:7].tolist()) == "[ pad ] [ unk ] a"


def test_without_the_library_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UserError, match=r"pip install 'scalestudy\[text\]'"):
        prepared(tmp_path / "data", **IMDB, path=write_imdb(tmp_path))
