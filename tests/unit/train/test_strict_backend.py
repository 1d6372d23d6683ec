"""The strict test backend refuses the tensors that NCCL refuses."""

from collections.abc import Callable, Iterator

import pytest
import strict_backend
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.parallel import DistributedDataParallel

DEVICE = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A group of one rank."""
    strict_backend.register()
    store = dist.FileStore(str(tmp_path_factory.mktemp("group") / "store"), 1)
    dist.init_process_group(strict_backend.NAME, store=store, rank=0, world_size=1)
    with strict_backend.HANDED_OUT:
        yield
    dist.destroy_process_group()


def of_a_module() -> Tensor:
    return nn.Linear(2, 2).to(DEVICE)(torch.ones(1, 2, device=DEVICE))


ON_IT: list[Callable[[], Tensor]] = [
    lambda: torch.ones(2, device=DEVICE),
    lambda: torch.ones(2).to(DEVICE),
    lambda: torch.ones(4, device=DEVICE)[1:3],
    lambda: torch.stack([torch.tensor(1.0, device=DEVICE)] * 2).double(),
    lambda: of_a_module().detach(),
]
ON_THE_HOST: list[Callable[[], Tensor]] = [
    lambda: torch.ones(2),
    lambda: torch.tensor([1.0, 2.0]),
    lambda: torch.from_numpy(torch.ones(2, device=DEVICE).numpy().copy()),
    lambda: nn.Linear(2, 2)(torch.ones(1, 2)).detach(),
]


@pytest.mark.parametrize("make", ON_IT)
def test_a_tensor_on_the_device_is_taken(make: Callable[[], Tensor]) -> None:
    values = make()
    dist.all_reduce(values)
    dist.broadcast(values, src=0)


@pytest.mark.parametrize("make", ON_THE_HOST)
def test_a_tensor_on_the_host_is_refused(make: Callable[[], Tensor]) -> None:
    values = make()
    with pytest.raises(RuntimeError, match="No backend type associated with device type cpu"):
        dist.all_reduce(values)


def test_a_hook_may_send_what_ddp_hands_to_it() -> None:
    seen = []

    def hook(_: object, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:
        seen.append(dist.all_reduce(bucket.buffer(), async_op=True))
        return seen[-1].get_future().then(lambda future: future.value()[0])

    model = DistributedDataParallel(nn.Linear(2, 2).to(DEVICE))
    model.register_comm_hook(None, hook)
    model(torch.ones(1, 2, device=DEVICE)).sum().backward()
    assert len(seen) == 1


def test_what_is_known_is_not_kept() -> None:
    """A rank that keeps the results of its steps would run out of memory."""
    values = torch.ones(2, device=DEVICE)
    freed = StorageWeakRef(values.untyped_storage())
    del values
    assert freed.expired()


def test_gradients_of_ddp_are_its_own_matter() -> None:
    model = DistributedDataParallel(nn.Linear(2, 2).to(DEVICE))
    model(torch.ones(1, 2, device=DEVICE)).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
