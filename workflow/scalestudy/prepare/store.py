"""Prepared data on disk: arrays that every rank of every run maps, and a manifest that describes them.

A store is written under a temporary name and renamed when complete, so it either exists as a whole or does not
exist. The arrays are mapped, not read: all processes of a host share one copy of them in the page cache.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from scalestudy.errors import UserError
from scalestudy.record.document import Document, Part, read_document, write_document
from scalestudy.study.config.datasets import Dataset

MANIFEST = "manifest.json"
TOKENIZER = "tokenizer.json"
_CHUNK = 4096
PARTS = ("train", "validation")
ARRAYS = tuple(f"{part}-{kind}" for part in PARTS for kind in ("inputs", "targets"))
Inputs = TypeVar("Inputs", np.ndarray, list[str])


@dataclass(frozen=True)
class Samples(Generic[Inputs]):
    """One part of the data: inputs, which are texts or an array, and equally many targets."""

    inputs: Inputs
    targets: np.ndarray

    def __len__(self) -> int:
        return len(self.targets)

    def some(self, most: int | None) -> Samples[Inputs]:
        """Return at most `most` samples, chosen at random but always the same ones, in their original order.

        The first samples would not be representative: IMDB's are sorted by class.
        """
        if most is None or len(self) <= most:
            return self
        chosen = np.sort(np.random.default_rng(0).choice(len(self), size=most, replace=False))
        if isinstance(self.inputs, list):
            return Samples([self.inputs[index] for index in chosen], self.targets[chosen])
        return Samples(self.inputs[chosen], self.targets[chosen])


class ArrayFile(Part):
    """One of the .npy files."""

    bytes: int
    sha256: str
    shape: tuple[int, ...]
    dtype: str


class TextFacts(Part):
    """The encoding of the texts."""

    vocabulary: int
    """Number of tokens in use, including padding (0) and the unknown word (1)."""
    validation_unknown_share: float
    """Share of unknown words among the validation tokens, after truncation."""
    cut_share: float
    """Share of all texts that were truncated to the length of a sample."""
    tokenizer_sha256: str


class ImageFacts(Part):
    """Mean and standard deviation by which the images were normalised, per colour, from the training part."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


class Manifest(Document):
    """The content of a store and its source."""

    made_by: ClassVar[str] = "scalestudy stage prepare"
    schema_version: Literal[1] = 1
    """Raised if the same source would give different arrays, or if the keys of the manifest change."""
    data: dict[str, Any]
    """The config entry of the data; a url without its credentials."""
    source: str
    """The path, or the url without credentials."""
    source_sha256: str | None
    """Checksum of the source if it is a single file."""
    samples: dict[str, int]
    """Number of samples by part."""
    arrays: dict[str, ArrayFile]
    """The arrays by name: `train-inputs`, `train-targets`, `validation-inputs`, `validation-targets`."""
    texts: TextFacts | None = None
    images: ImageFacts | None = None


def public_url(url: str) -> str:
    """Return a url as it may be shown and recorded: without user, password and query, which may be secret."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UserError(f"url: {error}") from None
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def described(data: Dataset) -> dict[str, Any]:
    """Return the config entry of the data, as a manifest records it."""
    entry = data.model_dump(mode="json")
    return entry | {"url": public_url(entry["url"])} if entry.get("url") else entry


def read_store(root: str | Path, data: Dataset) -> tuple[Manifest, dict[str, np.ndarray]]:
    """Return the manifest and the mapped arrays of prepared data. Writes to an array stay within the process.

    Names, sizes, shapes and types are checked against the manifest. Checksums are not checked, since that would
    read all data. Raises UserError if the data have not been prepared, or do not match the manifest.
    """
    directory = Path(root) / data.store_name
    advice = "run `scalestudy stage prepare`"
    manifest = _read_manifest(directory / MANIFEST, data, advice)
    arrays = {}
    for name, facts in manifest.arrays.items():
        path = directory / f"{name}.npy"
        try:
            if path.stat().st_size != facts.bytes:
                raise ValueError(f"{path.stat().st_size} bytes, not {facts.bytes}")
            array = np.load(path, mmap_mode="c", allow_pickle=False)
            if array.shape != facts.shape or array.dtype != facts.dtype:
                raise ValueError(f"{array.dtype}{list(array.shape)}, not {facts.dtype}{list(facts.shape)}")
        except (OSError, ValueError) as error:
            reason = "missing" if isinstance(error, FileNotFoundError) else error
            raise UserError(f"{directory}: {path.name} is not what was prepared: {reason}: {advice}") from None
        arrays[name] = array
    return manifest, arrays


def write_store(
    root: Path, data: Dataset, parts: dict[str, Samples[np.ndarray]], *, tokenizer: str | None = None, **facts: Any
) -> Manifest:
    """Write a complete store, replacing an existing one. The caller must hold the lock of its directory.

    facts: further fields of the manifest: `source`, `source_sha256`, `texts`, `images`.
    """
    directory = root / data.store_name
    partial, old = (directory.with_name(f".{directory.name}.{end}") for end in ("partial", "old"))
    for rest in (partial, old):  # left by a killed process: the lock excludes others
        shutil.rmtree(rest, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        arrays = {}
        for part in PARTS:
            inputs = "float32" if "images" in data.gives else "int32"
            arrays[f"{part}-inputs"] = _save(partial / f"{part}-inputs.npy", parts[part].inputs, inputs)
            arrays[f"{part}-targets"] = _save(partial / f"{part}-targets.npy", parts[part].targets, "int64")
        manifest = Manifest(
            data=described(data), samples={part: len(parts[part]) for part in PARTS}, arrays=arrays, **facts
        )
        if tokenizer is not None:
            (partial / TOKENIZER).write_text(tokenizer, encoding="utf-8")
        write_document(partial / MANIFEST, manifest)
        if directory.exists():
            directory.rename(old)
        partial.rename(directory)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise UserError(f"{directory}: could not be written: {error.strerror or error}") from None
    return manifest


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file. It identifies a source, and detects changes of an array."""
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read_manifest(path: Path, data: Dataset, advice: str) -> Manifest:
    if not path.exists():
        raise UserError(f"{path.parent}: these data have not been prepared: {advice}")
    manifest = read_document(path, Manifest)
    if manifest.data != described(data) or set(manifest.arrays) != set(ARRAYS):
        raise UserError(f"{path}: describes other data than its directory's name: {advice}")
    return manifest


def _save(path: Path, array: np.ndarray, dtype: str) -> ArrayFile:
    """Save an array like np.save, but convert it in chunks: bytes of text grow twelvefold, but only on disk."""
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
        "fortran_order": False,
        "shape": array.shape,
    }
    with path.open("wb") as handle:
        np.lib.format.write_array_header_1_0(handle, header)
        for start in range(0, len(array), _CHUNK):
            handle.write(np.ascontiguousarray(array[start : start + _CHUNK], dtype=dtype).data)
    return ArrayFile(bytes=path.stat().st_size, sha256=sha256_of(path), shape=array.shape, dtype=dtype)
