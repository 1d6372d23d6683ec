"""Which parts of a model are units of their own: what FSDP gathers at once, what checkpointing of activations
repeats."""

from collections.abc import Iterable

from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    apply_activation_checkpointing,
    checkpoint_wrapper,
)


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """The repeated parts of a model, in order; no parameter is in two of them, some may be in none.

    Of an nn.Sequential its children; else the items of the first nn.ModuleList from the outside, which is how
    Transformers hold their layers, here and at Hugging Face; else the children. Only parts with parameters count.
    """
    if not isinstance(model, nn.Sequential):
        # Breadth first: named_modules goes deep before it goes on, so the depth of the name decides.
        found = [(name.count("."), module) for name, module in model.named_modules() if _is_list(module)]
        if found:
            return _with_parameters(min(found, key=lambda item: item[0])[1])
    return _with_parameters(model.children())


def checkpoint_activations(model: nn.Module) -> None:
    """Keep the inputs of every block only, and compute the rest again in the backward pass.

    Each is put into a wrapper; the numbers of a step stay what they are.
    """
    blocks = set(blocks_of(model))
    apply_activation_checkpointing(
        model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda module: module in blocks
    )


def _is_list(module: nn.Module) -> bool:
    return isinstance(module, nn.ModuleList) and bool(_with_parameters(module))


def _with_parameters(modules: Iterable[nn.Module]) -> list[nn.Module]:
    return [module for module in modules if any(True for _ in module.parameters())]
