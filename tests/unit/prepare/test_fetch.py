"""A download is either complete and correct or refused; after an interruption only the rest is downloaded."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests
from distributions import Server, sha256
from scalestudy.errors import UserError
from scalestudy.prepare import fetch as module
from scalestudy.prepare.fetch import fetch

CONTENT = np.random.default_rng(1).bytes(700_000)
DIGEST = sha256(CONTENT)


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy between the test and its server, and no waiting."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module, "PAUSES_S", (0, 0, 0, 0))


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(CONTENT) as running:
        yield running


def url_of(server: Server) -> str:
    return f"http://{server.address}/data/archive.tar.gz"


def part_of(root: Path) -> Path:
    """Location of a partial download."""
    path = root / "downloads" / f"{DIGEST[:16]}-archive.tar.gz.part"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def visible(root: Path) -> list[str]:
    return [path.name for path in (root / "downloads").iterdir() if not path.name.startswith(".")]


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    path = fetch(url_of(server), DIGEST, tmp_path)
    assert path == tmp_path / "downloads" / f"{DIGEST[:16]}-archive.tar.gz"
    assert path.read_bytes() == CONTENT
    assert fetch(url_of(server), DIGEST, tmp_path) == path
    assert server.asked == [("/data/archive.tar.gz", None)]
    assert visible(tmp_path) == [path.name]


def test_a_file_that_was_damaged_on_disk_is_fetched_again(server: Server, tmp_path: Path) -> None:
    path = fetch(url_of(server), DIGEST, tmp_path)
    path.write_bytes(CONTENT[:-1])
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_cut_connection_is_continued_where_it_was_cut(server: Server, tmp_path: Path) -> None:
    server.cut_after = [300_000, 200_000]
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.ranges_asked == [None, "bytes=300000-", "bytes=500000-"]


def test_a_library_that_does_not_mind_a_short_answer_is_not_believed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """urllib3 1.26 takes an answer that ends too soon for a whole one."""
    get = requests.get

    def lenient(*arguments: Any, **keywords: Any) -> requests.Response:
        response = get(*arguments, **keywords)
        response.raw.enforce_content_length = False
        return response

    monkeypatch.setattr(requests, "get", lenient)
    server.cut_after = [300_000]
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.ranges_asked == [None, "bytes=300000-"]


def test_a_fetch_that_was_stopped_is_continued_by_the_next(server: Server, tmp_path: Path) -> None:
    part_of(tmp_path).write_bytes(CONTENT[:600_000])
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.ranges_asked == ["bytes=600000-"]
    assert not part_of(tmp_path).exists()


def test_a_server_without_ranges_sends_all_of_it_again(server: Server, tmp_path: Path) -> None:
    server.ranges, server.cut_after = False, [300_000]
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.ranges_asked == [None, "bytes=300000-"]


def test_a_part_of_another_file_is_dropped(server: Server, tmp_path: Path) -> None:
    part_of(tmp_path).write_bytes(b"x" * 1000)
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.ranges_asked == ["bytes=1000-", None]


def test_a_part_that_is_longer_than_the_file_is_dropped(server: Server, tmp_path: Path) -> None:
    part_of(tmp_path).write_bytes(CONTENT + b"more")
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.ranges_asked == [f"bytes={len(CONTENT) + 4}-", None]


def test_a_part_that_is_whole_already_is_taken(server: Server, tmp_path: Path) -> None:
    part_of(tmp_path).write_bytes(CONTENT)
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.asked == []


def test_another_file_than_the_one_named_is_refused_and_removed(server: Server, tmp_path: Path) -> None:
    wrong = sha256(b"another")
    with pytest.raises(UserError) as caught:
        fetch(url_of(server), wrong, tmp_path)
    assert wrong in str(caught.value)
    assert DIGEST in str(caught.value)
    assert "was removed" in str(caught.value)
    assert visible(tmp_path) == []


def test_a_missing_file_is_not_asked_for_twice(server: Server, tmp_path: Path) -> None:
    server.answers = [404, 404]
    secret = url_of(server).replace("http://", "http://me:password@") + "?token=abc"
    with pytest.raises(UserError, match=r"/data/archive\.tar\.gz: the server has no such file \(404\)") as caught:
        fetch(secret, DIGEST, tmp_path)
    assert len(server.asked) == 1
    assert "password" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.answers = [503, 500, 429]
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert len(server.asked) == 4


def test_a_server_that_stays_busy_is_given_up(server: Server, tmp_path: Path) -> None:
    server.answers = [503] * 9
    with pytest.raises(UserError, match="in 5 attempts: the server answered 503"):
        fetch(url_of(server), DIGEST, tmp_path)
    assert len(server.asked) == 5


def test_tries_that_bring_nothing_are_counted_only(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file over a bad line: every try brings some of it, and more of them than are allowed in vain."""
    monkeypatch.setattr(module, "WORTH_BYTES", 50_000)
    server.cut_after = [60_000] * 8
    assert fetch(url_of(server), DIGEST, tmp_path).read_bytes() == CONTENT
    assert len(server.asked) == 9


def test_no_connection_is_said_without_secrets(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers here
        url = f"http://me:password@127.0.0.1:{closed.getsockname()[1]}/archive.tar.gz?token=abc"
        with pytest.raises(UserError, match="could not be fetched in 5 attempts") as caught:
            fetch(url, DIGEST, tmp_path)
    assert "refused" in str(caught.value)
    assert "HTTPS_PROXY" in str(caught.value)
    assert "password" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_the_proxy_of_the_environment_is_asked(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://{server.address}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert fetch("http://data.invalid/archive.tar.gz", DIGEST, tmp_path).read_bytes() == CONTENT
    assert server.asked == [("http://data.invalid/archive.tar.gz", None)]


def test_what_a_server_declares_as_compressed_is_kept_as_it_lies_there(tmp_path: Path) -> None:
    """Some servers send a .tar.gz as a tar in gzip encoding; its checksum is that of the .tar.gz."""
    packed = gzip.compress(b"a tar archive")
    with Server(packed, headers={"Content-Encoding": "gzip"}) as server:
        assert fetch(url_of(server), sha256(packed), tmp_path).read_bytes() == packed
