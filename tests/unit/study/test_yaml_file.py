"""A study file has every key once and only plain values, or is refused with its name and line."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.study.config.yaml_file import DEEPEST, MOST_BYTES, read_yaml

BOMB = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
REFUSED = {
    "a key twice": (b"a: 1\nb:\n  c: 1\n  c: 2\n", "key c is given twice (line 4, column 3)"),
    "an anchor in itself": (b"a: &x\n  b: *x\n", "an anchor contains itself through its alias"),
    "a bomb of aliases": (BOMB.encode(), "values when its aliases are expanded"),
    "deep lists": (b"[" * 100_000, f"more than {DEEPEST} deep"),
    "deep mappings": ("".join(f"{' ' * n}a:\n" for n in range(200)).encode(), f"more than {DEEPEST} deep"),
    "UTF-16": ("a: 1".encode("utf-16"), "is text in UTF-16; save it as UTF-8"),
    "Latin-1": ("a: 1\nb: é\n".encode("latin-1"), "line 2 is not UTF-8 text (byte 0xe9)"),
    "a binary file": (bytes(range(256)), "is not UTF-8 text"),
    "control characters": (
        b"a: 1\nb: \x01\n",
        "not valid YAML: line 2 has a character that no text has ('\\x01'); remove it",
    ),
    "a date": (b"a: 2026-01-01\n", "2026-01-01 is read as a date; in quotes it is text"),
    "a number for a key": (b"1: 2\n", "key 1 is read as a number; in quotes it is text"),
    "a word that is a truth value": (b"on: 2\n", "key on is read as true or false; in quotes it is text"),
    "a list for a key": (b"? [a]\n: 1\n", "a key is text, and this one is a list"),
    "an object of Python": (b"a: !!python/object/apply:os.getcwd []\n", "not valid YAML: "),
    "bytes": (b"a: !!binary aGVsbG8=\n", "is read as bytes"),
    "digits without end": (b"a: " + b"9" * 5000, "is not a number that can be read"),
    "more digits than a float has": (b"a: " + b"9" * 400, "99999999999999999999... has more than 30 digits"),
    "base 60": (b"a: 1:30\n", "1:30 is read as 90, to base 60"),
    "octal": (b"a: 010\n", "010 is read as 8, to base 8"),
    "two documents": (b"a: 1\n---\nb: 2\n", "found another document"),
    "a list": (b"- 1\n", "a study file is a mapping of keys"),
    "nothing": (b"", "a study file is a mapping of keys"),
    "a tab": (b"a:\n\tb: 1\n", "not valid YAML: a tab is not allowed here; indent with spaces (line 2, column 1)"),
    "half a quote": (b'a: "b\n', "the quote that begins in line 1 is not closed"),
    "an open bracket": (b"a: 1\nb: [1, 2\n", "the bracket [ of line 2 is not closed"),
    "an open brace": (b"a: {b: 1\n", "the bracket { of line 1 is not closed"),
    "a line indented otherwise": (b"a:\n  b: 1\n c: 2\n", "is not indented like the lines that it belongs to"),
    "two colons": (b"a: b: c\n", "a second colon in one line; put the text in quotes"),
    "a key without a colon": (b"a: 1\nbc\nd: 2\n", "the key of line 2 has no colon and space after it"),
    "a value that begins with a sign": (b"a: @b\n", "a value cannot begin with @; put it in quotes"),
    "too much": (b"# comment\n" * MOST_BYTES, "is larger than"),
    "a merge of text": (b"a:\n  <<: b\n", "<< takes a mapping"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_study_is_gets_refused_with_the_file(tmp_path: Path, name: str) -> None:
    data, said = REFUSED[name]
    file = tmp_path / "study.yaml"
    file.write_bytes(data)
    begin = time.monotonic()
    with pytest.raises(UserError) as caught:
        read_yaml(file)
    text = str(caught.value)
    assert text.startswith(f"{file}: ")
    assert said in text
    assert "\n" not in text
    assert len(text) < 300
    assert time.monotonic() - begin < 10, "2 s are the aim; other work may take this host's time"


def test_what_a_study_may_be(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes(
        b"\xef\xbb\xbf# with a byte order mark\ncommon: &common {batch_size: 32, epochs: 1}\n"
        b"one:\n  <<: *common\n  epochs: 2\ntwo: *common\nempty:\ntext: '010'\nreal: 0.10\nzero: 0\nnegative: -5\n"
        b"hexadecimal: 0x10\nmany: 1_000\n"
    )
    assert read_yaml(file) == {
        "common": {"batch_size": 32, "epochs": 1},
        "one": {"batch_size": 32, "epochs": 2},
        "two": {"batch_size": 32, "epochs": 1},
        "empty": None,
        "text": "010",
        "real": 0.1,
        "zero": 0,
        "negative": -5,
        "hexadecimal": 16,
        "many": 1000,
    }


def test_json_is_yaml(tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    file.write_text('{"a": {"b": [1, 2.5, true, null, "x"]}}')
    assert read_yaml(file) == {"a": {"b": [1, 2.5, True, None, "x"]}}


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder; name the study file in it"):
        read_yaml(tmp_path)
    with pytest.raises(UserError, match="no such study file"):
        read_yaml(tmp_path / "none.yaml")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (Path("/dev/zero"), pipe):
        with pytest.raises(UserError, match="is a pipe or a device, not a file"):
            read_yaml(path)


def test_what_the_shell_connects_is_read_like_a_file() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a: 1\n")
    os.close(writing)
    assert read_yaml(Path(f"/dev/fd/{reading}")) == {"a": 1}
    os.close(reading)


def test_the_nearest_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("a: 1")
    with pytest.raises(UserError, match=r"no such study file; did you mean .*/study\.yaml\?"):
        read_yaml(tmp_path / "sutdy.yaml")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("a: 1")
    file.chmod(0)
    with pytest.raises(UserError, match="cannot be read: Permission denied"):
        read_yaml(file)
