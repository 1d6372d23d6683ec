"""How a workload is run: strategy, precision and every knob of it. What decides a run stands in `Knobs`."""

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
    """Options of DistributedDataParallel, by torch's own names; the defaults are torch's."""

    bucket_cap_mb: float = Field(25, gt=0)
    """Gradients are summed in buckets of so many MiB: large ones use the link better, small ones start sooner."""
    broadcast_buffers: bool = True
    """Send buffers (running statistics) from rank 0 at every forward pass. Models without any do not notice."""
    sync_batch_norm: bool = False
    """Let batch normalisation take its statistics over the samples of all ranks: one more message for every such
    layer, in the forward and in the backward pass."""
    static_graph: bool = False
    """Promise that every step uses the same parameters in the same way."""
    find_unused_parameters: bool = False
    """Look at every step which parameters got no gradient. Costs a walk over the graph; few models need it."""
    gradient_as_bucket_view: bool = False
    """Let gradients live inside the buckets: saves a copy and the memory of one set of gradients."""
    communication_hook: Literal["none", "fp16", "bf16", "powersgd"] = "none"
    """Compress gradients before they are summed. `fp16` and `bf16` halve the bytes; `powersgd` sends factors of
    low rank and keeps the error. All change the numbers that are summed: look at accuracy."""
    powersgd_rank: int = Field(1, ge=1)
    """Rank of PowerSGD's factors."""


class FsdpOptions(Entry):
    """Options of FSDP2 (`fully_shard`)."""

    sharding: Literal["full", "gradients", "hybrid"] = "full"
    """`full`: parameters are gathered for the forward pass, let go, and gathered again for the backward pass;
    with `wrap: block` those outside the blocks are kept in between, as torch does by default.
    `gradients`: gathered once and kept (`reshard_after_forward: false`). `hybrid`: sharded within groups of
    `shard_ranks`, replicated among them."""
    shard_ranks: int | None = Field(None, ge=1)
    """Ranks of a group of `hybrid`; the devices of a node if unset."""
    wrap: Literal["block", "model"] = "block"
    """What is gathered at a time: every block (layer) of the model by itself, or the model as a whole."""
    reduce_dtype: Literal["fp32", "bf16"] = "fp32"
    """Arithmetic in which gradients are summed where `precision` is bf16."""


class InputOptions(Entry):
    """How batches come to the training loop."""

    loader: Literal["direct", "dataloader"] = "direct"
    """`direct`: the loop itself reads a batch by its indices from arrays in memory. `dataloader`: torch's
    DataLoader does, in `workers` processes if there are any. It reads whole batches, in the same order."""
    workers: int = Field(0, ge=0)
    """Processes of a rank that read ahead. They take cores from the rank that they serve."""
    pin_memory: bool = False
    """Put batches into page-locked memory, from which copies to a GPU run alongside computation."""
    persistent_workers: bool = False
    """Keep the processes from epoch to epoch."""
    prefetch_factor: int | None = Field(None, ge=1)
    """Batches that each process reads ahead; 2 if unset."""
    drop_last: bool = True
    """Leave out the last batch of an epoch where it is not whole. `false` trains on what of it divides among the
    ranks; that step is not part of the step time."""
    reshuffle: bool = True
    """Another order in every epoch. `false` repeats the first, as a sampler does whose epoch is never set."""

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
    """How a workload is run: strategy, precision and everything that may make it faster or slower."""

    strategy: Literal["single", "ddp", "fsdp"]
    """`single`: the plain model in one process, no wrapper, no process group. `ddp`: DistributedDataParallel.
    `fsdp`: FSDP2 (`fully_shard`). Tensor and pipeline parallelism are out of scope."""
    precision: Literal["fp32", "tf32", "bf16", "fp16"] = "fp32"
    """Arithmetic of forward and backward. `tf32`: matrix products in TF32, on CUDA only. `bf16`: autocast; with
    fsdp its mixed-precision policy (parameters gathered in bf16). `fp16`: autocast with loss scaling, not with
    fsdp. Parameters and optimizer stay fp32."""
    compile: bool = False
    """torch.compile, in the warm-up of every launch. On a CPU it needs a C++ compiler."""
    activation_checkpointing: bool = False
    """Keep only the inputs of every block and compute the rest again in the backward pass: less memory, about a
    third more arithmetic."""
    accumulation_steps: int = Field(1, ge=1)
    """Micro-batches of an optimizer step: each rank cuts its share of the batch into so many parts, one after
    another. The batch stays what it is."""
    accumulation_sync: bool = False
    """Synchronise gradients after every micro-batch instead of after the last: what a loop without `no_sync`
    does."""
    ddp: DdpOptions = DdpOptions()
    """Options of strategy ddp."""
    fsdp: FsdpOptions = FsdpOptions()
    """Options of strategy fsdp."""
    input: InputOptions = InputOptions()
    """How batches come to the loop."""
    log_every_steps: int | None = Field(None, ge=1)
    """Read the loss from the device and print it every so many steps, as training scripts do. Not at all if unset:
    this loop needs no reading to train."""
    checkpoint_every_steps: int | None = Field(None, ge=1)
    """Write model and optimizer to disk every so many steps: rank 0 as one file; with fsdp, or asynchronously, as
    a distributed checkpoint. Not at all if unset."""
    checkpoints_kept: int = Field(1, ge=1)
    """Checkpoints that are kept; older ones are removed."""
    checkpoint_async: bool = False
    """Copy the state and write it while training goes on."""

    @property
    def settings(self) -> str:
        """What differs from the defaults, as `compile: true, ddp.bucket_cap_mb: 50`; '' if nothing."""
        return ", ".join(
            f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
            for name, value in _differing(self, Knobs(strategy=self.strategy))
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


def _differing(entry: Entry, defaults: Entry) -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of each field of the defaults that an entry has otherwise."""
    for name in type(defaults).model_fields:
        value, usual = getattr(entry, name), getattr(defaults, name)
        if isinstance(value, Entry):
            yield from ((f"{name}.{key}", inner) for key, inner in _differing(value, usual))
        elif value != usual:
            yield name, value


class Variant(Knobs):
    """How a workload is run, and the case it is compared with."""

    environment: Environment = Field(default_factory=dict)
    """Environment variables of this variant, on top of `host.environment` (`NCCL_P2P_DISABLE: "1"`)."""
    arguments: Words = ()
    """Words that this variant adds to the command of a workload of your own: `--amp`. Braces as in the command."""
    launcher: Literal["python", "torchrun"] | None = None
    """How a command is started. `torchrun`: a process for each rank, with the variables that `torchrun` sets;
    the default of `ddp` and `fsdp`. `python`: one process; the default of `single`, and for scripts that start
    their ranks themselves. A base case with `torchrun` is one rank: it has the wrapper of a distributed run."""
    start: Literal["cold", "fork"] | None = None
    """How the processes of this variant start, where it is not as `host.start` says. Its base case has to start
    alike. A variant that differs in nothing else shows whether forked launches measure what cold ones do."""
    base: Name | None = None
    """The `single` variant this one is compared with. May be left out when the study has just one."""
