"""The data types of a study, one class each. `prepare/` turns files into arrays, and `train/data/` reads the
arrays.

Every class describes a sample: `gives` (kinds that models take), `shape`, `classes`, and the number of samples
where it is known. Data in files are prepared once and shared by all runs (`prepared`).
"""

from __future__ import annotations

import hashlib
import json
from math import prod
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.refusals import SHA256, URL

MOST_BYTES = 1e14
"""Limit for synthetic data, which are kept in memory."""


class Dataset(Entry):
    """The common part of all data types."""

    gives: ClassVar[frozenset[str]]
    prepared: ClassVar[bool] = False
    """Whether the data are in files that must be prepared before training."""
    if TYPE_CHECKING:
        type: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a sample's inputs."""
        raise NotImplementedError

    @property
    def tokens(self) -> int | None:
        """Size of the vocabulary; None if the inputs are not tokens."""
        return None

    @property
    def known_train_samples(self) -> int | None:
        """Number of training samples; None if it is unknown before the data are read."""
        return None

    @property
    def store_name(self) -> str:
        """Name of the directory with the prepared data: the type, and a hash of this entry."""
        return f"{self.type}-{hashlib.sha256(self.to_json().encode()).hexdigest()[:10]}"

    def to_json(self) -> str:
        """The entry as one line of JSON, for a job."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True)


class DigitsData(Dataset):
    """scikit-learn's digits: 1 797 grey images of 8 x 8 pixels in ten classes. They need no download."""

    gives: ClassVar[frozenset[str]] = frozenset({"images"})

    type: Literal["digits"]
    validation_fraction: float = Field(0.2, gt=0, lt=1)
    """Share of the images held out for validation. The split is the same for every run of a study."""

    shape: ClassVar[tuple[int, ...]] = (1, 8, 8)
    classes: ClassVar[int] = 10

    @property
    def known_train_samples(self) -> int:
        """Number of training images (scikit-learn ships 1 797 images in all)."""
        return 1797 - self.validation_samples

    @property
    def validation_samples(self) -> int:
        return round(1797 * self.validation_fraction)


class _Files(Dataset):
    """Data in files: at a local path, or downloaded once and checked."""

    prepared: ClassVar[bool] = True
    places: ClassVar[dict[str, str]] = {"path": "a local path", "url": "a url with its sha256"}
    """Keys for the place of the data; exactly one is needed."""

    path: str | None = None
    """The official distribution on disk: the archive, or the directory that it unpacks to."""
    url: str | None = Field(None, pattern=URL)
    """Address to download the data from instead; needs `sha256`. Proxies are read from the environment, as by
    curl."""
    sha256: str | None = Field(None, pattern=SHA256)
    """Checksum of the download, or of an archive at `path`. A file with another checksum is refused."""
    max_samples: int | None = Field(None, ge=1)
    """Use at most this many samples of the training part and of the validation part. They are chosen at random,
    but are always the same."""

    @model_validator(mode="after")
    def _somewhere(self) -> _Files:
        given = [name for name in self.places if getattr(self, name) is not None]
        problems = []
        if not given:
            problems.append(f"path: missing; say where the data are: {', or '.join(self.places.values())}")
        elif len(given) > 1:
            problems.append(f"{given[0]}: {given[1]} is given too; leave out one of them")
        if self.url and not self.sha256:
            problems.append("sha256: missing; data from a url need a checksum of 64 hexadecimal digits")
        refuse(problems)
        return self


class CifarData(_Files):
    """CIFAR-10 or CIFAR-100, binary version: labels and images of 32 x 32 pixels in three colours."""

    gives: ClassVar[frozenset[str]] = frozenset({"images"})
    shape: ClassVar[tuple[int, ...]] = (3, 32, 32)

    type: Literal["cifar"]
    classes: Literal[10, 100] = 10
    """10: `cifar-10-batches-bin` with `data_batch_*.bin`. 100: `cifar-100-binary` with `train.bin`."""


class _Tokens(Dataset):
    """Samples that are sequences of tokens: `sequence_length` of them, out of `vocabulary`."""

    if TYPE_CHECKING:
        sequence_length: int
        vocabulary: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.sequence_length,)

    @property
    def tokens(self) -> int:
        return self.vocabulary


class _Texts(_Tokens, _Files):
    """Labelled texts, tokenised once."""

    gives: ClassVar[frozenset[str]] = frozenset({"texts"})

    sequence_length: int = Field(256, ge=4)
    """Tokens of a sample: longer texts are cut, shorter ones padded."""
    vocabulary: int = Field(20000, ge=8)
    """Largest number of words with a token of their own: the most common ones of the training part. The others
    share one token."""


class ImdbData(_Texts):
    """IMDB film reviews: the `aclImdb` tree with `train/pos`, `train/neg`, `test/pos`, `test/neg`; two classes."""

    type: Literal["imdb"]
    classes: ClassVar[int] = 2


class FetchedFile(Entry):
    """A file to download, and its checksum."""

    url: str = Field(pattern=URL)
    """Address of the file."""
    sha256: str = Field(pattern=SHA256)
    """Checksum of the file; a file with another one is refused."""


class AgNewsFiles(Entry):
    """Both parts of AG News, each as a CSV file."""

    train: FetchedFile
    """`train.csv`."""
    test: FetchedFile
    """`test.csv`, which is used for validation."""


class AgNewsData(_Texts):
    """AG News: `train.csv` and `test.csv` with class (1 to 4), title and description; four classes."""

    places: ClassVar[dict[str, str]] = _Texts.places | {"files": "the two files, each with its url and sha256"}

    type: Literal["ag-news"]
    classes: ClassVar[int] = 4
    files: AgNewsFiles | None = None
    """The two files separately, if they are not offered as one archive: `train` and `test`, each with its `url`
    and `sha256`."""

    @model_validator(mode="after")
    def _one_checksum(self) -> AgNewsData:
        if self.files and self.sha256:
            raise ValueError("sha256: is the checksum of an archive; each of `files` has its own")
        return self


class TextFileData(_Tokens, _Files):
    """A plain text file, read as bytes and cut into sequences; the last part is held out."""

    gives: ClassVar[frozenset[str]] = frozenset({"stream"})

    type: Literal["text-file"]
    sequence_length: int = Field(256, ge=4)
    """Bytes of a sample."""
    validation_fraction: float = Field(0.1, gt=0, lt=1)
    """Share of the file, from its end, held out for validation."""

    tokens: ClassVar[int] = 256
    classes: ClassVar[int] = 256


class Synthetic(Dataset):
    """Random data, which exclude the cost of input. There is nothing to learn in them."""

    samples: int = Field(4096, ge=1)
    """Number of training samples; validation has 25 % more samples."""
    on_device: bool = True
    """Keep the data on the device, so that a step neither waits for data nor copies them. `false` keeps them in
    host memory, like data from files."""
    sample_delay_us: float = Field(0, ge=0)
    """Extra time to read a sample, in microseconds, to study the effect of a slow disk. Needs
    `on_device: false`."""

    @property
    def known_train_samples(self) -> int:
        return self.samples

    @property
    def validation_samples(self) -> int:
        return max(1, self.samples // 4)

    @property
    def bytes(self) -> float:
        """Size of all inputs."""
        return 4.0 * self.samples * prod(self.shape)

    @model_validator(mode="after")
    def _delay(self) -> Synthetic:
        problems = []
        if self.sample_delay_us and self.on_device:
            problems.append("sample_delay_us: data on the device are not read; set on_device: false")
        if self.bytes > MOST_BYTES:
            problems.append(
                f"samples: {self.samples} of shape {'x'.join(map(str, self.shape))} are about"
                f" {self.bytes:.0e} bytes of memory; {MOST_BYTES:.0e} or less is expected"
            )
        refuse(problems)
        return self


class SyntheticVectors(Synthetic):
    """Random vectors with random classes."""

    gives: ClassVar[frozenset[str]] = frozenset({"vectors"})

    type: Literal["synthetic-vectors"]
    features: int = Field(64, ge=1)
    """Features per sample."""
    classes: int = Field(10, ge=2)
    """Number of classes."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.features,)


class SyntheticImages(Synthetic):
    """Random images with random classes."""

    gives: ClassVar[frozenset[str]] = frozenset({"images"})

    type: Literal["synthetic-images"]
    channels: int = Field(3, ge=1)
    """Colours of an image."""
    size: int = Field(32, ge=2)
    """Height and width in pixels."""
    classes: int = Field(10, ge=2)
    """Number of classes."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.channels, self.size, self.size)


class SyntheticTokens(_Tokens, Synthetic):
    """Random tokens: texts with random classes for a classifier, or a stream for a language model."""

    gives: ClassVar[frozenset[str]] = frozenset({"texts", "stream"})

    type: Literal["synthetic-tokens"]
    sequence_length: int = Field(256, ge=4)
    """Tokens of a sample."""
    vocabulary: int = Field(20000, ge=8)
    """Size of the vocabulary, in tokens."""
    classes: int = Field(2, ge=2)
    """Number of classes, for a classifier only."""


FileData = CifarData | ImdbData | AgNewsData | TextFileData
SyntheticData = SyntheticVectors | SyntheticImages | SyntheticTokens
Data = Annotated[DigitsData | FileData | SyntheticData, Field(discriminator="type")]
