"""Fetches a file with a known checksum: resumes after interruptions, retries, and never uses a wrong file."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import requests
import urllib3

from scalestudy.errors import UserError
from scalestudy.prepare.store import public_url, sha256_of, text_sha256
from scalestudy.record.lock import exclusive
from scalestudy.record.say import say
from scalestudy.study.config.datasets import FetchedFile

# Pauses before the second, third ... attempt. An attempt that fetched at least WORTH_BYTES restarts the count.
PAUSES_S = (1, 2, 4, 8)
WORTH_BYTES = 1 << 20
TIMEOUT_S = (20, 60)  # to connect; between two bytes
PROGRESS_S = 5
_BLOCK = 1 << 18


class _CutError(Exception):
    """An attempt failed for a reason that may be temporary."""


@contextmanager
def alone(target: Path) -> Iterator[None]:
    """Hold the lock of `target`, which need not exist yet, so that two processes do not make the same data."""
    path = target.with_name(f".{target.name}.lock")
    with ExitStack() as held:
        try:
            held.enter_context(
                exclusive(path, waiting=lambda: say(f"waiting: another process is making {target}"))
            )
        except OSError as error:
            why = f"{path.parent}: cannot be written to: {error.strerror}; choose another folder with --data"
            raise UserError(why) from None
        yield


def fetch(url: str, sha256: str, root: Path) -> Path:
    """Fetch the file at `url` into `root/downloads/`, unless it exists, and return its path.

    Proxies and passwords (.netrc) come from the environment. Raises UserError if the file cannot be fetched or
    does not have its checksum.
    """
    return _fetch_to(root / "downloads" / f"{sha256[:16]}-{_file_name(url)}", url, sha256)


def fetch_folder(files: Mapping[str, FetchedFile], root: Path) -> tuple[Path, str]:
    """Fetch files into one folder in `root/downloads/`, each as `fetch` does, under the given names.

    Returns (the folder; the checksum of the list of their checksums, in the format of sha256sum(1)).
    """
    listed = "".join(f"{file.sha256}  {name}\n" for name, file in files.items())
    sha256 = text_sha256(listed)
    for name, file in files.items():
        _fetch_to(root / "downloads" / sha256[:16] / name, file.url, file.sha256)
    return root / "downloads" / sha256[:16], sha256


def _fetch_to(target: Path, url: str, sha256: str) -> Path:
    with alone(target):
        if target.exists():
            if sha256_of(target) == sha256:
                return target
            say(f"{target}: has changed since it was fetched; fetching it again")
            target.unlink()
        part = target.with_name(f"{target.name}.part")
        try:
            _fetch_part(url, sha256, part)
        except OSError as error:
            raise UserError(f"{part}: could not be written: {error.strerror or error}") from None
        part.replace(target)
    return target


def _fetch_part(url: str, sha256: str, part: Path) -> None:
    """Fetch into `part` until its checksum is right."""
    resumed = part.exists()
    if resumed and sha256_of(part) == sha256:  # an earlier process was stopped just before the rename
        return
    _try_repeatedly(url, part)
    found = sha256_of(part)
    if found != sha256 and resumed:
        say("the partial file of an earlier attempt belongs to another file; fetching all of it")
        part.unlink()
        _try_repeatedly(url, part)
        found = sha256_of(part)
    if found != sha256:
        size = part.stat().st_size
        part.unlink()
        raise UserError(
            f"{public_url(url)}: the fetched file does not have the checksum in `sha256`, and was removed\n"
            f"  expected {sha256}\n  found    {found} ({size} bytes)\n"
            "Either the file has changed, or something in between, such as a proxy, answered instead."
        )


def _try_repeatedly(url: str, part: Path) -> None:
    failures = 0
    while True:
        before = _size(part)
        say(f"fetching {public_url(url)}" + (f" from byte {before}" if before else ""))
        try:
            return _try(url, part)
        except _CutError as reason:
            failures = 1 if _size(part) - before >= WORTH_BYTES else failures + 1
            if failures > len(PAUSES_S):
                raise UserError(
                    f"{public_url(url)}: could not be fetched in {failures} attempts: {reason}. Does this host"
                    " need a proxy (HTTPS_PROXY)? Or fetch the file by other means and set `path`."
                ) from None
            say(f"  {reason}; trying again in {PAUSES_S[failures - 1]} s")
            time.sleep(PAUSES_S[failures - 1])


def _try(url: str, part: Path) -> None:
    """Make one request, from the end of `part` on."""
    offset = _size(part)
    # identity: the checksum is of the file as stored on the server.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
    try:
        response = requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_S)
    except (requests.ConnectionError, requests.Timeout) as error:
        if isinstance(error, requests.exceptions.SSLError):
            raise UserError(f"{public_url(url)}: the connection is not trusted: {_reason(error)}") from None
        raise _CutError(_reason(error)) from None
    except requests.RequestException as error:
        raise UserError(f"{public_url(url)}: cannot be fetched ({type(error).__name__})") from None
    with response:
        if response.status_code == 416 and offset:
            part.unlink()
            raise _CutError("the partial file is longer than the server's; starting again")
        _refuse_status(response.status_code, public_url(url))
        resumed = response.status_code == 206
        if resumed and _range_start(response) != offset:
            part.unlink(missing_ok=True)
            raise _CutError("the server sent another range than requested; starting again")
        _write(response, part, offset if resumed else 0)  # 200: all of the file, whatever the range


def _write(response: requests.Response, part: Path, done: int) -> None:
    """Append the body to `part`, or overwrite `part` if `done` is 0."""
    length = response.headers.get("Content-Length", "")
    total = done + int(length) if length.isdecimal() else None
    told = time.monotonic()
    with part.open("ab" if done else "wb") as handle:
        for block in _blocks(response):
            done += handle.write(block)
            if time.monotonic() - told >= PROGRESS_S:
                told = time.monotonic()
                say(f"  {done / 2**20:.0f}" + (f" of {total / 2**20:.0f}" if total else "") + " MiB")
    if total is not None and done < total:
        raise _CutError(f"the connection ended after {done} of {total} bytes")


def _blocks(response: requests.Response) -> Iterator[bytes]:
    """Yield the body as sent; `iter_content` would decompress what the server declares as compressed."""
    try:
        while block := response.raw.read(_BLOCK, decode_content=False):
            yield block
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise _CutError(f"the connection was lost: {_reason(error)}") from None


def _refuse_status(status: int, shown: str) -> None:
    if status in (408, 429) or status >= 500:
        raise _CutError(f"the server answered {status}")
    if status in (404, 410):
        raise UserError(
            f"{shown}: the server has no such file ({status}); correct `url`, or fetch the file and set `path`"
        )
    if status in (401, 403, 407):
        raise UserError(f"{shown}: access was denied ({status}); fetch the file and set `path`")
    if status not in (200, 206):
        raise UserError(f"{shown}: the server answered {status} instead of sending a file")


def _range_start(response: requests.Response) -> int | None:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _reason(error: Exception) -> str:
    """Return the innermost message of a chain of errors; the outer ones repeat the url, with its secrets."""
    while isinstance(inner := getattr(error, "reason", None), Exception) or (
        error.args and isinstance(inner := error.args[0], Exception)
    ):
        error = inner
    text = error.args[-1] if error.args else ""
    return str(text) or type(error).__name__


def _file_name(url: str) -> str:
    """Return the last part of the url's path, in characters that any file system accepts."""
    name = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".") or "data"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
