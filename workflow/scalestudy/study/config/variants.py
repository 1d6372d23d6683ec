"""How a workload is run: strategy, precision and all other options. `Knobs` has those that identify a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from scalestudy.study.config.commands import Words
from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.environment import Environment
from scalestudy.study.config.refusals import NAME

Name = Annotated[str, Field(pattern=NAME, max_length=60)]


class DdpOptions(Entry):
    """Options of DistributedDataParallel, with torch's names and defaults."""

    bucket_cap_mb: float = Field(25, gt=0)
    """Size of the buckets in which gradients are summed, in MiB. Large buckets use the link better; small ones
    start sooner."""
    broadcast_buffers: bool = True
    """Send buffers (running statistics) from rank 0 at every forward pass. No effect on models without buffers."""
    sync_batch_norm: bool = False
    """Compute the statistics of batch normalisation over the samples of all ranks: one more message for every such
    layer, in the forward and in the backward pass."""
    static_graph: bool = False
    """Promise that every step uses the same parameters in the same way."""
    find_unused_parameters: bool = False
    """Find the parameters without a gradient in every step. It walks over the graph; few models need it."""
    gradient_as_bucket_view: bool = False
    """Store gradients inside the buckets: saves a copy and the memory of one set of gradients."""
    communication_hook: Literal["none", "fp16", "bf16", "powersgd"] = "none"
    """Compress gradients before they are summed. `fp16` and `bf16` halve the bytes; `powersgd` sends factors of
    low rank and keeps the error. All of them change the sums: check accuracy."""
    powersgd_rank: int = Field(1, ge=1)
    """Rank of the factors of PowerSGD, with `communication_hook: powersgd`."""


class FsdpOptions(Entry):
    """Options of FSDP2 (`fully_shard`)."""

    sharding: Literal["full", "gradients", "hybrid"] = "full"
    """`full`: parameters are gathered for the forward pass, freed, and gathered again for the backward pass; with
    `wrap: block` those outside the blocks are kept in between, which is torch's default. `gradients`: parameters
    are gathered once and kept (`reshard_after_forward: false`). `hybrid`: parameters are sharded within groups of
    `shard_ranks` ranks and replicated between the groups."""
    shard_ranks: int | None = Field(None, ge=1)
    """Ranks of a group with `sharding: hybrid`; the devices of a node if unset."""
    wrap: Literal["block", "model"] = "block"
    """Unit that is gathered at a time: a block (layer) of the model, or the whole model."""
    reduce_dtype: Literal["fp32", "bf16"] = "fp32"
    """Arithmetic in which gradients are summed with `precision: bf16`."""


class InputOptions(Entry):
    """Options of the input of a training."""

    loader: Literal["direct", "dataloader"] = "direct"
    """`direct`: the loop itself reads a batch by its indices from arrays in memory. `dataloader`: torch's
    DataLoader reads whole batches in the same order, in `workers` processes if there are any."""
    workers: int = Field(0, ge=0)
    """Processes of a rank that read ahead. They use the cores of their rank."""
    pin_memory: bool = False
    """Put batches into page-locked memory, from which copies to a GPU run alongside computation."""
    persistent_workers: bool = False
    """Keep the worker processes from epoch to epoch."""
    prefetch_factor: int | None = Field(None, ge=1)
    """Batches that each worker reads ahead; 2 if unset."""
    drop_last: bool = True
    """Leave out the last batch of an epoch if it is not whole. `false` trains on the part of it that divides among
    the ranks; that step is not part of the step time."""
    reshuffle: bool = True
    """Read the samples in another order in every epoch. `false` repeats the first order, like a sampler whose
    epoch is never set."""

    @model_validator(mode="after")
    def _need_a_loader(self) -> InputOptions:
        of_workers = ("persistent_workers", "prefetch_factor")
        if self.loader == "direct":
            given = [name for name in ("workers", "pin_memory", *of_workers) if getattr(self, name)]
            refuse(
                f"{name}: is an option of loader: dataloader; leave it out, or set that loader" for name in given
            )
        elif not self.workers:
            given = [name for name in of_workers if getattr(self, name)]
            refuse(f"{name}: has no effect with workers: 0; set workers, or leave it out" for name in given)
        return self


class Knobs(Entry):
    """How a workload is run: strategy, precision and all options that may change its speed."""

    strategy: Literal["single", "ddp", "fsdp", "other"]
    """`single`: the plain model in one process, no wrapper, no process group. `ddp`: DistributedDataParallel.
    `fsdp`: FSDP2 (`fully_shard`). `other`: another kind of data parallelism, of a script (a workload with a
    `command`) or of imported runs, such as DeepSpeed, Horovod or its own all-reduce. Tensor and pipeline
    parallelism are out of scope."""
    precision: Literal["fp32", "tf32", "bf16", "fp16"] = "fp32"
    """Arithmetic of the forward and backward pass. `tf32`: matrix products in TF32, on CUDA only. `bf16`:
    autocast; with fsdp its mixed-precision policy (parameters gathered in bf16). `fp16`: autocast with loss
    scaling, not with fsdp. Parameters and optimizer stay fp32."""
    compile: bool = False
    """Use torch.compile, which compiles in the warm-up of every run. On a CPU it needs a C++ compiler."""
    activation_checkpointing: bool = False
    """Keep only the inputs of every block and compute the rest again in the backward pass: less memory, about 1/3
    more arithmetic."""
    accumulation_steps: int = Field(1, ge=1)
    """Micro-batches of an optimizer step: each rank splits its share of the batch into this many parts and
    computes them one after another. The size of the batch does not change."""
    accumulation_sync: bool = False
    """Synchronise gradients after every micro-batch instead of after the last one, like a loop without
    `no_sync`."""
    ddp: DdpOptions = DdpOptions()
    """Options of strategy ddp."""
    fsdp: FsdpOptions = FsdpOptions()
    """Options of strategy fsdp."""
    input: InputOptions = InputOptions()
    """How batches are read."""
    log_every_steps: int | None = Field(None, ge=1)
    """Read the loss from the device and print it every N steps, as training scripts do. Off if unset: the
    built-in loop does not need the loss to train."""
    checkpoint_every_steps: int | None = Field(None, ge=1)
    """Write model and optimizer to disk every N steps: rank 0 writes one file; with fsdp, or asynchronously, all
    ranks write a distributed checkpoint. Off if unset."""
    checkpoints_kept: int = Field(1, ge=1)
    """Number of checkpoints to keep; older ones are removed."""
    checkpoint_async: bool = False
    """Copy the state and write it while training continues."""

    @property
    def settings(self) -> str:
        """Settings that differ from the defaults, such as `compile: true, ddp.bucket_cap_mb: 50`; '' if none
        does."""
        return ", ".join(
            f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
            for name, value in _differing(self, Knobs(strategy=self.strategy))
            if value is not None  # unknown, of an imported run
        )

    @model_validator(mode="after")
    def _of_this_strategy(self) -> Knobs:
        """Most scripts would silently ignore the options of another strategy."""
        refuse([*self._of_others(), *self._together()])
        return self

    def _of_others(self) -> Iterator[str]:
        kinds: dict[str, type[Entry]] = {"ddp": DdpOptions, "fsdp": FsdpOptions}
        for other, options in kinds.items():
            if self.strategy == other:
                continue
            own = kinds[self.strategy].model_fields if self.strategy in kinds else ()
            valid = f"valid are {', '.join(f'{self.strategy}.{name}' for name in own)}"
            for name, _ in _differing(getattr(self, other), options()):
                yield (
                    f"{other}.{name}: strategy {self.strategy} takes no options of {other};"
                    f" {valid if own else 'one process has nothing to synchronise'}"
                )

    def _together(self) -> Iterator[str]:
        if self.strategy == "fsdp" and self.precision == "fp16":
            yield "precision: fp16 needs loss scaling, which is not available with fsdp here; use bf16"
        if self.compile and self.ddp.bucket_cap_mb < 1:
            yield (
                f"ddp.bucket_cap_mb: {self.ddp.bucket_cap_mb:g} is too small with compile, which cuts the graph at"
                " buckets of 1 MiB or more; use 1 or more"
            )
        if self.ddp.static_graph and self.accumulation_steps > 1 and not self.accumulation_sync:
            yield (
                "ddp.static_graph: DDP records the graph in the first step, which must be synchronised, and"
                " accumulation skips that; leave out one of them, or set accumulation_sync: true"
            )
        if self.fsdp.shard_ranks and self.fsdp.sharding != "hybrid":
            yield "fsdp.shard_ranks: is an option of sharding: hybrid; leave it out, or set that sharding"
        if self.accumulation_sync and self.accumulation_steps == 1:
            yield "accumulation_sync: has no effect with accumulation_steps: 1; leave it out, or accumulate"
        if not self.checkpoint_every_steps and (self.checkpoint_async or self.checkpoints_kept > 1):
            yield (
                "checkpoint_every_steps: missing; no checkpoint is written without it, so checkpoint_async and"
                " checkpoints_kept have no effect"
            )


BESIDE_THE_STEP = ("input", "log_every_steps", "checkpoint_every_steps", "checkpoints_kept", "checkpoint_async")
"""Fields for work that one process and several do alike: reading batches, logging, checkpoints."""


def unlike_the_base(variant: Knobs, base: Knobs) -> Iterator[tuple[str, Any, Any]]:
    """(dotted name, value of the variant, value of its base) of fields beside the step in which they differ.

    A ratio between such rows has the effect of these fields as well as that of the number of ranks.
    """
    of_base = dict(_differing(base, variant))
    for name, value in _differing(variant, base):
        if name.partition(".")[0] in BESIDE_THE_STEP:
            yield name, value, of_base[name]


def _differing(entry: Entry, defaults: Entry) -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of each field of an entry that differs from the defaults."""
    for name in type(defaults).model_fields:
        value, usual = getattr(entry, name), getattr(defaults, name)
        if isinstance(value, Entry):
            yield from ((f"{name}.{key}", inner) for key, inner in _differing(value, usual))
        elif value != usual:
            yield name, value


class Variant(Knobs):
    """How a workload is run, and the baseline that it is compared with."""

    environment: Environment = Field(default_factory=dict)
    """Environment variables of this variant, on top of `host.environment` (`NCCL_P2P_DISABLE: "1"`)."""
    arguments: Words = ()
    """Words that this variant adds to the command of a workload: `--amp`. Words in braces work as in the
    command."""
    launcher: Literal["python", "torchrun"] | None = None
    """How a command is started. `torchrun`: one process for each rank, with the variables that `torchrun` sets;
    the default of `ddp` and `fsdp`. `python`: one process; the default of `single`, and the choice for scripts
    that start their ranks themselves. A baseline with `torchrun` is one rank, with the wrapper of a distributed
    run."""
    start: Literal["cold", "fork"] | None = None
    """How the processes of this variant start, instead of `host.start`. Its baseline must start in the same way. A
    variant that differs in nothing else shows whether forked runs measure the same as cold ones."""
    base: Name | None = None
    """The `single` variant that this one is compared with. It may be left out if the study has only one."""
