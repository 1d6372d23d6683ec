"""The options that stage 3 combines, impossible combinations, and the variant of a combination."""

from __future__ import annotations

from typing import Any

from scalestudy.accept.pairs import Row

OPTIONS: dict[str, tuple[str, ...]] = {
    "strategy": ("ddp", "fsdp"),
    "precision": ("fp32", "tf32", "bf16", "fp16"),
    "hook": ("none", "fp16", "bf16", "powersgd"),
    "sharding": ("none", "full", "gradients", "hybrid"),
    "loader": ("direct", "dataloader", "workers"),
    "checkpoint": ("none", "written", "asynchronous", "activations"),
    "compile": ("no", "yes"),
}
"""checkpoint: written to disk, written while training continues, or activations that are recomputed."""
COMPILE_S, WORKERS_S = 10.0, 1.0
EVERY_STEPS = 20
INPUTS: dict[str, dict[str, Any]] = {
    "direct": {"loader": "direct"},
    "dataloader": {"loader": "dataloader"},
    "workers": {"loader": "dataloader", "workers": 1},
}
CHECKPOINTS: dict[str, dict[str, Any]] = {
    "none": {},
    "written": {"checkpoint_every_steps": EVERY_STEPS},
    "asynchronous": {"checkpoint_every_steps": EVERY_STEPS, "checkpoint_async": True},
    "activations": {"activation_checkpointing": True},
}


def refusals(row: Row, *, cuda: bool, compiler: bool) -> list[str]:
    """Return all reasons why a combination is impossible on this machine; empty if it is possible."""
    ddp = row["strategy"] == "ddp"
    rules = {
        "tf32 exists on CUDA only": row["precision"] == "tf32" and not cuda,
        "compile needs a C++ compiler on a CPU": row["compile"] == "yes" and not (cuda or compiler),
        "torch sums bf16 over ranks on CUDA only": row["hook"] == "bf16" and not cuda,
        "fp16 needs loss scaling, which fsdp does not have here": not ddp and row["precision"] == "fp16",
        "a communication hook is an option of ddp": not ddp and row["hook"] != "none",
        "sharding is an option of fsdp": ddp and row["sharding"] != "none",
        "fsdp always shards": not ddp and row["sharding"] == "none",
    }
    return [reason for reason, holds in rules.items() if holds]


def cost_s(row: Row) -> float:
    """Return the approximate seconds that a combination takes longer than a plain run."""
    return COMPILE_S * (row["compile"] == "yes") + WORKERS_S * (row["loader"] == "workers")


def variant_of(row: Row) -> dict[str, Any]:
    """Return the variant of a study for a combination."""
    found: dict[str, Any] = {"strategy": row["strategy"], "precision": row["precision"]}
    if row["hook"] != "none":
        found["ddp"] = {"communication_hook": row["hook"]}
    if row["sharding"] != "none":
        found["fsdp"] = {"sharding": row["sharding"]}
    if row["compile"] == "yes":
        found["compile"] = True
    return found | {"input": INPUTS[row["loader"]]} | CHECKPOINTS[row["checkpoint"]]


def words_of(row: Row) -> str:
    """Return the strategy, the precision and the other non-default options: `ddp, bf16, hook powersgd`."""
    said = [row["strategy"], row["precision"]]
    for name in ("hook", "sharding", "loader", "checkpoint", "compile"):
        value = row[name]
        if value not in ("none", "direct", "no"):
            said.append("compiled" if name == "compile" else f"{name} {value}")
    return ", ".join(said)
