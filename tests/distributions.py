"""Small data sets in exactly the formats of the official ones, and a server with typical failures."""

from __future__ import annotations

import csv
import hashlib
import tarfile
import threading
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

# Names as in the official archive: the number of the review, and its rating from 1 to 10.
REVIEWS = {
    "train/neg/0_3.txt": "A dull film.<br /><br />It's DULL.",
    "train/neg/1_1.txt": "Dull, dull, dull!",
    "train/neg/10_2.txt": "The plot is dull",
    "train/pos/0_9.txt": "A fine film, fine acting",
    "train/pos/1_7.txt": "Fine café, fine plot",
    "test/neg/0_2.txt": "Dull acting",
    "test/pos/0_10.txt": "A fine zeppelin",
    "test/pos/1_8.txt": "Fine",
    "train/unsup/0_0.txt": "nobody said what this is worth",
}

# As in the official files: every field in quotes, inner quotes doubled, line breaks as a backslash.
NEWS = {
    "train.csv": (
        '"3","Wall St. Bears (Reuters)","Reuters - Short-sellers, dwindling\\band of ultra-cynics"\n'
        '"4","The ""next"" chip","It is\\#36;5, they say"\n'
        '"1","Talks on\nthe border","A line break, and ""quotes"""\n'
        '"2","Cup final","Home side wins"\n'
    ),
    "test.csv": '"2","Cup","Wins"\n"1","Talks","Again, talks"\n',
}


def write_tree(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def write_imdb(parent: Path) -> Path:
    """Write the `aclImdb` folder."""
    return write_tree(parent / "aclImdb", REVIEWS | {"README": "about", "imdb.vocab": "the\nand\n"})


def write_ag_news(parent: Path) -> Path:
    """Write the folder with both CSV files."""
    return write_tree(parent / "ag_news_csv", NEWS | {"classes.txt": "World\nSports\nBusiness\nSci/Tech\n"})


def write_big_ag_news(parent: Path, *, rows: int) -> Path:
    """Write AG News with many rows. The row number is a word of the text, and determines the class."""
    folder = parent / "ag_news_csv"
    folder.mkdir(parents=True)
    for name in ("train.csv", "test.csv"):
        with (folder / name).open("w", newline="") as handle:
            writer = csv.writer(handle, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerows([row % 4 + 1, f"number{row}", "is here"] for row in range(rows))
    return folder


def cifar_records(count: int, *, classes: int, seed: int) -> np.ndarray:
    """Return random records as bytes: one label and the pixels; for CIFAR-100 the coarse label first."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (count, 3072), dtype=np.uint8)
    pixels[:, 2048:] //= 4  # dark blue, so that the colours differ
    labels = [rng.integers(0, classes, (count, 1), dtype=np.uint8)]
    if classes == 100:
        labels.insert(0, rng.integers(0, 20, (count, 1), dtype=np.uint8))
    return np.concatenate([*labels, pixels], axis=1)


def write_cifar(parent: Path, *, classes: int) -> tuple[Path, np.ndarray, np.ndarray]:
    """Write the folder. Returns the records of its training and test part."""
    test = cifar_records(4, classes=classes, seed=9)
    if classes == 100:
        train = cifar_records(10, classes=100, seed=1)
        files = {"train.bin": train.tobytes(), "test.bin": test.tobytes(), "fine_label_names.txt": "apple\n"}
        return write_tree(parent / "cifar-100-binary", files), train, test
    batches = [cifar_records(2, classes=10, seed=seed) for seed in range(1, 6)]
    files = {f"data_batch_{number}.bin": batch.tobytes() for number, batch in enumerate(batches, start=1)}
    files |= {"test_batch.bin": test.tobytes(), "batches.meta.txt": "airplane\n"}
    return write_tree(parent / "cifar-10-batches-bin", files), np.concatenate(batches), test


def pack(folder: Path, target: Path) -> Path:
    """Make an archive of a folder, including the folder's name; the target's name determines the format."""
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder.parent))
        return target
    with tarfile.open(target, "w" if target.suffix == ".tar" else "w:gz") as archive:
        archive.add(folder, folder.name)
    return target


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Server:
    """A server for one file on the loopback; its fields set its behaviour."""

    content: bytes
    ranges: bool = True
    """Whether it supports `Range`."""
    cut_after: list[int] = field(default_factory=list)
    """Bytes after which it drops the connection, one per response; then it sends everything."""
    answers: list[int] = field(default_factory=list)
    """Statuses of the first requests; after them it sends the file."""
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and `Range` of every request."""

    def __enter__(self) -> Server:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def ranges_asked(self) -> Sequence[str | None]:
        return [wanted for _, wanted in self.asked]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers["Range"]
                server.asked.append((self.path, wanted))
                if server.answers:
                    self.send_response(server.answers.pop(0))
                    self.end_headers()
                    return
                size, first = len(server.content), 0
                if wanted and server.ranges:
                    first = int(wanted.removeprefix("bytes=").removesuffix("-"))
                    self.send_response(206 if first < size else 416)
                    self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
                else:
                    self.send_response(200)
                for name, value in server.headers.items():
                    self.send_header(name, value)
                rest = server.content[first:]
                self.send_header("Content-Length", str(len(rest)))
                self.end_headers()
                self.wfile.write(rest[: server.cut_after.pop(0)] if server.cut_after else rest)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
