"""Prepare the data of one config entry: find the source, read it, choose, encode, write the store."""

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
    """Make the store of these data in `root`, or keep the one that is there.

    Whoever comes while another process makes it waits, and keeps it too.
    """
    root = Path(root)
    if not isinstance(data, FileData):
        raise UserError(f"data.type: {data.type}: nothing to prepare: these data do not come in files")
    # Without the lock first: a store that others made may be in a place that is not ours to write to.
    if kept := _kept(data, root):
        return kept
    with alone(root / data.store_name):
        return _kept(data, root, tell=True) or _make(data, root)


def _kept(data: FileData, root: Path, *, tell: bool = False) -> Manifest | None:
    """The store that is there, if it can be used; tell: say why one is there that cannot."""
    directory = root / data.store_name
    try:
        manifest, _ = read_store(root, data)
    except UserError as error:
        # Snakemake makes the directory of an output before the job: only a manifest says that there was a store.
        if tell and (directory / MANIFEST).exists():
            say(f"{error}; that is done now")
        return None
    if data.path and not data.sha256 and manifest.source_sha256:
        path = Path(data.path).expanduser()
        if path.is_file() and sha256_of(path) != manifest.source_sha256:
            raise UserError(
                f"{path}: is another file than the one that {directory} was made of. Remove that directory to"
                " prepare this one; its sha256 in the config keeps the two apart."
            )
    say(f"{directory}: prepared before, kept")
    return manifest


def _make(data: FileData, root: Path) -> Manifest:
    if "texts" in data.gives:
        require_tokenizers()
    path, shown, sha256 = _find(data, root)
    parts = {part: samples.some(data.max_samples) for part, samples in _read(data, path).items()}
    for part, samples in parts.items():
        if not len(samples):
            raise UserError(f"{shown}: no samples for {part} in it")
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
    """(source on disk, fetched if need be; how it is shown; its checksum, None for a folder)."""
    if data.url and data.sha256:
        return fetch(data.url, data.sha256, root), public_url(data.url), data.sha256
    if isinstance(data, AgNewsData) and data.files:
        files = {name: getattr(data.files, part) for part, name in texts.AG_NEWS_FILES.items()}
        path, sha256 = fetch_folder(files, root)
        return path, ", ".join(public_url(file.url) for file in files.values()), sha256
    assert data.path is not None, "the config names one place"
    path = Path(data.path).expanduser()
    if not path.exists():
        raise UserError(f"data.path: {data.path}: no such file or folder (looked for from {Path.cwd()})")
    if path.is_dir():
        if data.sha256:
            raise UserError(
                f"data.sha256: {data.path} is a folder, which has no checksum; name the archive instead"
            )
        return path, data.path, None
    found = sha256_of(path)
    if data.sha256 not in (None, found):
        raise UserError(f"{data.path}: not the file that data.sha256 names: expected {data.sha256}, found {found}")
    return path, data.path, found
