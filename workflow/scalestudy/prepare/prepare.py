"""Prepares the data of one config entry: reads the source, selects samples, encodes, and writes the store."""

from functools import partial
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.prepare import cifar, text_file, texts
from scalestudy.prepare.fetch import alone, fetch, fetch_folder
from scalestudy.prepare.store import MANIFEST, Manifest, Samples, public_url, read_store, sha256_of, write_store
from scalestudy.prepare.tokens import encode, require_tokenizers
from scalestudy.record.say import say
from scalestudy.study.config.datasets import AgNewsData, CifarData, Data, FileData, ImdbData, TextFileData


def prepare(data: Data, root: str | Path) -> Manifest:
    """Make the store of these data in `root`, or keep an existing one. Returns its manifest.

    If another process is making it, this one waits, and then keeps it too.
    """
    root = Path(root)
    if not isinstance(data, FileData):
        raise UserError(f"data.type: {data.type}: nothing to prepare: these data do not come from files")
    # First without the lock: an existing store may be in a folder that we cannot write to.
    if kept := _kept(data, root):
        return kept
    with alone(root / data.store_name):
        return _kept(data, root, tell=True) or _make(data, root)


def _kept(data: FileData, root: Path, *, tell: bool = False) -> Manifest | None:
    """Return the manifest of an existing store, or None if it cannot be used. tell: report why it cannot."""
    directory = root / data.store_name
    try:
        manifest, _ = read_store(root, data)
    except UserError as error:
        # Snakemake creates the directory of an output before the job: only a manifest shows that a store existed.
        if tell and (directory / MANIFEST).exists():
            say(f"{error}; preparing it now")
        return None
    if data.path and not data.sha256 and manifest.source_sha256:
        path = Path(data.path).expanduser()
        if path.is_file() and sha256_of(path) != manifest.source_sha256:
            raise UserError(
                f"{path}: is not the file from which {directory} was prepared. Remove that directory to prepare"
                " this file, or set its sha256 in the config to keep both."
            )
    say(f"{directory}: already prepared, kept")
    return manifest


def _make(data: FileData, root: Path) -> Manifest:
    if "texts" in data.gives:
        require_tokenizers()
    path, shown, sha256 = _find(data, root)
    parts = {part: samples.some(data.max_samples) for part, samples in _read(data, path).items()}
    for part, samples in parts.items():
        if not len(samples):
            raise UserError(f"{shown}: has no samples for {part}")
    write = partial(write_store, root, data, source=shown, source_sha256=sha256)
    if isinstance(data, ImdbData | AgNewsData):
        parts, tokenizer, lost = encode(parts, vocabulary=data.vocabulary, sequence_length=data.sequence_length)
        return write(parts, texts=lost, tokenizer=tokenizer)
    if isinstance(data, CifarData):
        parts, scale = cifar.normalise(parts)
        return write(parts, images=scale)
    return write(parts)


def _read(data: FileData, path: Path) -> dict[str, Samples[Any]]:
    match data:
        case CifarData():
            return cifar.read(path, data)
        case ImdbData():
            return texts.read_imdb(path)
        case AgNewsData():
            return texts.read_ag_news(path)
        case TextFileData():
            return text_file.read(path, data)


def _find(data: FileData, root: Path) -> tuple[Path, str, str | None]:
    """Return (source on disk, fetched if necessary; its name for messages; its checksum, None for a folder)."""
    if data.url and data.sha256:
        return fetch(data.url, data.sha256, root), public_url(data.url), data.sha256
    if isinstance(data, AgNewsData) and data.files:
        files = {name: getattr(data.files, part) for part, name in texts.AG_NEWS_FILES.items()}
        path, sha256 = fetch_folder(files, root)
        return path, ", ".join(public_url(file.url) for file in files.values()), sha256
    assert data.path is not None, "the config names one place"
    path = Path(data.path).expanduser()
    if not path.exists():
        raise UserError(f"data.path: {data.path}: no such file or folder (relative to {Path.cwd()})")
    if path.is_dir():
        if data.sha256:
            raise UserError(
                f"data.sha256: {data.path} is a folder, which has no checksum; set data.path to the archive"
            )
        return path, data.path, None
    found = sha256_of(path)
    if data.sha256 not in (None, found):
        raise UserError(f"{data.path}: does not match data.sha256: expected {data.sha256}, found {found}")
    return path, data.path, found
