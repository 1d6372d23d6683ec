"""What code does is parsed once for each content of a file, and never wrongly remembered."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from scalestudy.record import behaviour as module
from scalestudy.record.behaviour import behaviour, keep

SOURCE = "from scalestudy.record import files\nimport json\n\ndef f(x):\n    return x + 1\n"
IMPORTS = ["scalestudy.record", "scalestudy.record.files"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "cache" / "behaviour.json"
    monkeypatch.setattr(module, "_cache", lambda: path)
    forget(monkeypatch)
    yield path
    module._kept.cache_clear()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    module._kept.cache_clear()
    monkeypatch.setattr(module, "_found", {})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    return path


def test_the_next_process_does_not_parse_again(cache: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = behaviour(source)
    assert first.imports == IMPORTS
    keep()
    forget(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", lambda _: pytest.fail("parsed again"))
        assert behaviour(source) == first
    source.write_text(SOURCE.replace("x + 1", "x + 2"))
    assert behaviour(source).digest != first.digest


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": ["b"]}', b"\xff"])
def test_a_damaged_cache_is_written_again(
    cache: Path, source: Path, monkeypatch: pytest.MonkeyPatch, content: str | bytes
) -> None:
    cache.parent.mkdir()
    cache.write_bytes(content if isinstance(content, bytes) else content.encode())
    first = behaviour(source)
    keep()
    forget(monkeypatch)
    assert list(module._kept().values()) == [first]


def test_a_package_that_cannot_be_written_is_parsed_every_time(
    cache: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.parent.write_text("a file where the folder would be")
    first = behaviour(source)
    keep()
    forget(monkeypatch)
    assert behaviour(source) == first


def test_the_cache_does_not_grow_without_end(cache: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    for number in range(3):
        source.write_text(f"x = {number}\n")
        behaviour(source)
        keep()
        forget(monkeypatch)
    assert [*module._kept().values()] == [behaviour(source)]


@pytest.mark.parametrize(
    ("named", "folder"), [("/a/cache", "/a/cache"), ("", "/a/home/.cache"), ("relative", "/a/home/.cache")]
)
def test_an_installed_package_keeps_it_in_the_cache_of_the_user(
    monkeypatch: pytest.MonkeyPatch, named: str, folder: str
) -> None:
    monkeypatch.setattr(module, "installed", lambda: True)
    monkeypatch.setenv("HOME", "/a/home")
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    assert module._cache.__wrapped__().parent == Path(folder, "scalestudy")


def test_a_user_without_a_home_has_no_cache(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(module, "_cache", homeless)
    forget(monkeypatch)
    assert behaviour(source).imports == IMPORTS
    keep()
    module._kept.cache_clear()
