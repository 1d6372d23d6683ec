"""Variants of a study: which are refused, and with which words."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from scalestudy.errors import UserError
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

TOKENS = {"type": "synthetic-tokens", "samples": 64}
VECTORS = {"type": "synthetic-vectors", "samples": 64}


def changed(content: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The content with values at dotted paths; missing parts of a path are created."""
    content = deepcopy(content)
    for path, value in changes.items():
        *parents, last = path.split(".")
        node = content
        for key in parents:
            node = node.setdefault(key, {})
        node[last] = value
    return content


def fsdp(**options: Any) -> dict[str, Any]:
    return {"strategy": "fsdp", **options}


DDP, WORK = "variants.ddp", "workloads.mlp"
REFUSED: list[tuple[dict[str, Any], str]] = [
    # Options of another strategy, and options by the names that other tools give them.
    (
        {DDP: fsdp(ddp={"bucket_cap_mb": 50})},
        "variants.ddp.ddp.bucket_cap_mb: strategy fsdp takes no options of ddp; valid are fsdp.sharding,"
        " fsdp.shard_ranks, fsdp.wrap, fsdp.reduce_dtype",
    ),
    (
        {f"{DDP}.fsdp": {"wrap": "model"}},
        "variants.ddp.fsdp.wrap: strategy ddp takes no options of fsdp; valid are ddp.bucket_cap_mb,"
        " ddp.broadcast_buffers, ddp.sync_batch_norm, ddp.static_graph, ddp.find_unused_parameters,"
        " ddp.gradient_as_bucket_view, ddp.communication_hook, ddp.powersgd_rank",
    ),
    (
        {"variants.single.ddp": {"static_graph": True}},
        "variants.single.ddp.static_graph: strategy single takes no options of ddp; one process has nothing to"
        " synchronise",
    ),
    (
        {f"{DDP}.ddp_broadcast_buffers": False},
        "variants.ddp.ddp_broadcast_buffers: unknown key; did you mean ddp.broadcast_buffers?",
    ),
    ({f"{DDP}.num_workers": 2}, "variants.ddp.num_workers: unknown key; did you mean input.workers?"),
    ({f"{DDP}.bucket_cap_mb": 5}, "variants.ddp.bucket_cap_mb: unknown key; did you mean ddp.bucket_cap_mb?"),
    (
        {f"{DDP}.ddp": {"bucket_cap": 5}},
        "variants.ddp.ddp.bucket_cap: unknown key; did you mean bucket_cap_mb?",
    ),
    ({f"{DDP}.ddp": {"zero": 3}}, "variants.ddp.ddp.zero: unknown key; valid keys are bucket_cap_mb, "),
    (
        {f"{DDP}.ddp": {"communication_hook": "int8"}},
        "variants.ddp.ddp.communication_hook: 'none', 'fp16', 'bf16' or 'powersgd' is expected, not 'int8'",
    ),
    (
        {DDP: fsdp(fsdp={"sharding": "zero3"})},
        "variants.ddp.fsdp.sharding: 'full', 'gradients' or 'hybrid' is expected, not 'zero3'",
    ),
    (
        {f"{DDP}.precision": "fp8"},
        "variants.ddp.precision: 'fp32', 'tf32', 'bf16' or 'fp16' is expected, not 'fp8'",
    ),
    # What does not go together.
    (
        {f"{DDP}.input": {"workers": 2}},
        "variants.ddp.input.workers: is an option of loader: dataloader; leave it out, or set that loader",
    ),
    ({f"{DDP}.input": {"pin_memory": True}}, "variants.ddp.input.pin_memory: is an option of loader: dataloader"),
    (
        {f"{DDP}.input": {"loader": "dataloader", "prefetch_factor": 4}},
        "variants.ddp.input.prefetch_factor: has no effect with workers: 0; set workers, or leave it out",
    ),
    (
        {f"{DDP}.accumulation_steps": 2, f"{DDP}.ddp": {"static_graph": True}},
        "variants.ddp.ddp.static_graph: DDP records the graph in the first step",
    ),
    (
        {f"{DDP}.compile": True, f"{DDP}.ddp": {"bucket_cap_mb": 0.5}},
        "variants.ddp.ddp.bucket_cap_mb: 0.5 is too small with compile",
    ),
    (
        {f"{DDP}.accumulation_sync": True},
        "variants.ddp.accumulation_sync: has no effect with accumulation_steps: 1",
    ),
    (
        {DDP: fsdp(precision="fp16")},
        "variants.ddp.precision: fp16 needs loss scaling, which is not available with fsdp here",
    ),
    ({DDP: fsdp(fsdp={"shard_ranks": 2})}, "variants.ddp.fsdp.shard_ranks: is an option of sharding: hybrid"),
    (
        {f"{DDP}.checkpoint_async": True},
        "variants.ddp.checkpoint_every_steps: missing; no checkpoint is written without it",
    ),
    (
        {f"{DDP}.checkpoints_kept": 2},
        "variants.ddp.checkpoint_every_steps: missing; no checkpoint is written without it",
    ),
    # What does not go together with the rest of the study.
    (
        {DDP: fsdp(fsdp={"sharding": "hybrid", "shard_ranks": 3}), "scales": ["1x2", "1x4"]},
        "variants.ddp.fsdp.shard_ranks: 2 ranks of scale 1x2 do not make whole groups of 3",
    ),
    (
        {DDP: fsdp(fsdp={"sharding": "hybrid", "shard_ranks": 2}), "scales": ["1x2", "1x3"]},
        "variants.ddp.fsdp.shard_ranks: 3 ranks of scale 1x3 do not make whole groups of 2",
    ),
    (
        {f"{DDP}.precision": "tf32", "host.device": "cpu"},
        "variants.ddp.precision: tf32 is available on CUDA devices only; use fp32 on a CPU",
    ),
    (
        {f"{DDP}.ddp": {"communication_hook": "bf16"}, "host.device": "cpu"},
        "variants.ddp.ddp.communication_hook: torch sums bf16 over ranks on CUDA only; fp16 works on a CPU too",
    ),
    (
        {f"{WORK}.data": VECTORS, f"{DDP}.input": {"loader": "dataloader"}},
        "workloads.mlp.data.on_device: variant ddp reads through a dataloader",
    ),
    (
        {f"{DDP}.environment": {"OMP_NUM_THREADS": "9"}},
        "host.environment.OMP_NUM_THREADS: 9 threads are more than the cores",
    ),
    # Batches.
    (
        {f"{DDP}.accumulation_steps": 3},
        "workloads.mlp.batch_size: 32 does not divide among the 2 ranks of scale 1x2, each 3 micro-batches"
        " (variant ddp); 30 or 36 would",
    ),
    (
        {f"{DDP}.accumulation_steps": 8, f"{WORK}.batch_size": 24},
        "workloads.mlp.batch_size: 24 does not divide among the 2 ranks of scale 1x2, each 8 micro-batches"
        " (variant ddp); 16 or 32 would",
    ),
    (
        {"variants.single.accumulation_steps": 3},
        "workloads.mlp.batch_size: 32 does not make 3 micro-batches (variant single); 30 or 36 would",
    ),
    (
        {f"{WORK}.scaling": ["weak"], f"{DDP}.accumulation_steps": 5},
        "workloads.mlp.batch_size: 32 does not make 5 micro-batches (variant ddp); 30 or 35 would",
    ),
    # Workloads.
    (
        {f"{WORK}.data": TOKENS},
        "workloads.mlp.data.type: mlp takes images or vectors; synthetic-tokens gives stream or texts",
    ),
    (
        {f"{WORK}.model": {"type": "convnet"}, f"{WORK}.data": VECTORS},
        "workloads.mlp.data.type: convnet takes images; synthetic-vectors gives vectors",
    ),
    (
        {f"{WORK}.model": {"type": "language-model"}, f"{WORK}.data": {"type": "imdb", "path": "aclImdb"}},
        "workloads.mlp.data.type: language-model takes stream; imdb gives texts",
    ),
    (
        {f"{WORK}.epochs": 0, f"{WORK}.optimizer.decay": "cosine"},
        "workloads.mlp.optimizer.decay: a run with epochs: 0 has no end to decay towards; set decay: none",
    ),
    (
        {f"{WORK}.data": {"type": "cifar", "url": "https://example.org/cifar.tar.gz"}},
        "workloads.mlp.data.sha256: missing; data from a url need a checksum of 64 hexadecimal digits",
    ),
    (
        {f"{WORK}.data": {"type": "cifar"}},
        "workloads.mlp.data.path: missing; say where the data are: a local path, or a url with its sha256",
    ),
    (
        {f"{WORK}.data": VECTORS | {"sample_delay_us": 5}},
        "workloads.mlp.data.sample_delay_us: data on the device are not read; set on_device: false",
    ),
    (
        {f"{WORK}.model.widths": [8]},
        "workloads.mlp.model.widths: leave it out, or leave out hidden_dim and num_layers",
    ),
    (
        {f"{WORK}.model": {"type": "language-model", "d_model": 30}, f"{WORK}.data": TOKENS},
        "workloads.mlp.model.d_model: 30 is not a multiple of heads: 4",
    ),
    (
        {f"{WORK}.model": {"type": "language-model", "parameters": "1M", "heads": 2}, f"{WORK}.data": TOKENS},
        "workloads.mlp.model.parameters: leave it out, or leave out heads",
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused_names_the_key_and_what_would_be_right(
    content: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    parse_study(content, source="x")
    with pytest.raises(UserError) as caught:
        parse_study(changed(content, changes), source="study.yaml")
    assert f"\n  {message}" in str(caught.value)


ACCEPTED: list[dict[str, Any]] = [
    {f"{DDP}.ddp": {"bucket_cap_mb": 1, "communication_hook": "powersgd"}},
    {f"{DDP}.ddp": {"communication_hook": "bf16"}, "host.device": "auto"},
    {f"{DDP}.ddp": {"static_graph": True}, f"{DDP}.accumulation_steps": 2, f"{DDP}.accumulation_sync": True},
    {DDP: fsdp(fsdp={"sharding": "hybrid"}, precision="bf16")},
    {DDP: fsdp(fsdp={"sharding": "hybrid", "shard_ranks": 2}), "scales": ["1x2", "1x4"]},
    {DDP: fsdp(ddp={"bucket_cap_mb": 25})},
    {f"{DDP}.input": {"loader": "dataloader", "workers": 1, "persistent_workers": True, "prefetch_factor": 1}},
    {f"{DDP}.checkpoint_every_steps": 5, f"{DDP}.checkpoints_kept": 3, f"{DDP}.checkpoint_async": True},
    {f"{DDP}.accumulation_steps": 16},
    {f"{WORK}.model": {"type": "language-model"}, f"{WORK}.data": TOKENS},
    {f"{WORK}.data": {"type": "cifar", "url": "http://example.org/cifar.tar.gz", "sha256": "0" * 64}},
]


@pytest.mark.parametrize("changes", ACCEPTED, ids=str)
def test_what_goes_together_is_accepted(content: dict[str, Any], changes: dict[str, Any]) -> None:
    """Also an option of another strategy that has its default value."""
    make_plan(parse_study(changed(content, changes), source="x"))
