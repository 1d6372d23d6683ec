"""Data in memory, whatever they come from: a `Split`, read by index.

What comes in files was prepared before (prepare/) and is memory-mapped: nothing is read before a batch asks for
it, and the ranks of a host share its pages. Random data are made where they are used, by every rank from the same
seed, so that the ranks share an order as with real data: no file, no copy, no waiting.
"""

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from scalestudy.errors import UserError
from scalestudy.prepare.store import ARRAYS, read_store
from scalestudy.study.config.datasets import Data, DigitsData, FileData, SyntheticData, SyntheticTokens
from scalestudy.study.config.models import Model
from scalestudy.train.data.digits import read_digits

SEED = 0


@dataclass(frozen=True)
class Split:
    """Inputs and targets of the two parts of a data set, in host memory or all on the device."""

    train_inputs: Tensor
    train_targets: Tensor
    validation_inputs: Tensor
    validation_targets: Tensor
    _: KW_ONLY
    sample_delay_s: float = 0.0
    """Seconds that the reading of a sample takes on top, where a study asks for slow data."""
    checksums: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the prepared arrays, by file; empty for data that do not come in files."""

    @property
    def train_samples(self) -> int:
        return len(self.train_targets)


def load_split(data: Data, model: Model, *, directory: Path | None, device: torch.device) -> Split:
    """The data of a workload. directory: where prepared data are; needed for data that come in files.

    Raises UserError where they are not there or not whole.
    """
    if isinstance(data, DigitsData):
        return load_digits_split(data)
    if isinstance(data, FileData):
        return load_files(data, directory)
    return make_split(data, model, device=device if data.on_device else torch.device("cpu"))


def load_digits_split(data: DigitsData) -> Split:
    """scikit-learn's digits as (N, 1, 8, 8) floats in [0, 1]; the held-out images are the same in every run."""
    images, classes = read_digits()
    inputs = torch.tensor(images, dtype=torch.float32).unsqueeze(1) / 16
    targets = torch.tensor(classes, dtype=torch.long)
    order = torch.randperm(len(targets), generator=torch.Generator().manual_seed(0))
    validation, train = order[: data.validation_samples], order[data.validation_samples :]
    return Split(inputs[train], targets[train], inputs[validation], targets[validation])


def load_files(data: FileData, directory: Path | None) -> Split:
    """The prepared arrays as tensors over the mapped files.

    Raises UserError where no directory was given, or where it holds no whole store of these data.
    """
    if directory is None:
        raise UserError(f"data.type: {data.type} comes in files; say with --data where they were prepared")
    manifest, arrays = read_store(directory, data)
    checksums = {name: file.sha256 for name, file in manifest.arrays.items()}
    return Split(*(torch.from_numpy(arrays[name]) for name in ARRAYS), checksums=checksums)


def make_split(data: SyntheticData, model: Model, *, device: torch.device) -> Split:
    """Normal numbers, or tokens from 1 on (0 is padding); random classes, or a language model's next token."""
    generator = torch.Generator(device).manual_seed(SEED)
    train = _make(data, model, data.samples, generator, device)
    validation = _make(data, model, data.validation_samples, generator, device)
    return Split(*train, *validation, sample_delay_s=data.sample_delay_us * 1e-6)


def _make(
    data: SyntheticData, model: Model, samples: int, generator: torch.Generator, device: torch.device
) -> tuple[Tensor, Tensor]:
    def integers(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=generator, device=device)

    if not isinstance(data, SyntheticTokens):
        inputs = torch.randn((samples, *data.shape), generator=generator, device=device)
        return inputs, integers(0, data.classes, samples)
    tokens = integers(1, data.vocabulary, samples, data.sequence_length + 1)
    if "stream" in model.takes:
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return tokens[:, :-1].contiguous(), integers(0, data.classes, samples)
