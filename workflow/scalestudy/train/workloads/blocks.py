"""The blocks of a model: the units that FSDP gathers and that activation checkpointing recomputes."""

from collections.abc import Iterable

from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    apply_activation_checkpointing,
    checkpoint_wrapper,
)


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """Return the blocks of a model, in order. No parameter is in two blocks, but some may be in none.

    For an nn.Sequential these are its children. Otherwise they are the items of the outermost nn.ModuleList, which
    holds the layers of Transformers, ours and Hugging Face's. Without such a list they are the children. Only
    parts with parameters count.
    """
    if not isinstance(model, nn.Sequential):
        # Breadth first: named_modules is depth-first, so the list with the shallowest name is chosen.
        found = [(name.count("."), module) for name, module in model.named_modules() if _is_list(module)]
        if found:
            return _with_parameters(min(found, key=lambda item: item[0])[1])
    return _with_parameters(model.children())


def checkpoint_activations(model: nn.Module) -> None:
    """Wrap every block so that it keeps only its inputs, and recomputes the rest in the backward pass.

    The results of a step do not change.
    """
    blocks = set(blocks_of(model))
    apply_activation_checkpointing(
        model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda module: module in blocks
    )


def _is_list(module: nn.Module) -> bool:
    return isinstance(module, nn.ModuleList) and bool(_with_parameters(module))


def _with_parameters(modules: Iterable[nn.Module]) -> list[nn.Module]:
    return [module for module in modules if any(True for _ in module.parameters())]
