"""Whether a plan fits the machine that is to run it: told before any job starts, not by a queue or a crash."""

from __future__ import annotations

from scalestudy.errors import UserError
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.plan import Plan


def check_capacity(plan: Plan, *, nodes: int, cores: int | None, gpus: int | None) -> None:
    """Raise UserError where a scale asks for more than is on offer.

    nodes: hosts on offer. cores: CPU cores, None if not known. gpus: CUDA devices, None if not known;
    the latter binds only a study that insists on CUDA, since `auto` falls back to the CPU.
    """
    host = plan.study.host
    for index, scale in enumerate(plan.study.scales):
        wanted, ranks = nodes_and_devices(scale)
        if wanted > nodes:
            raise UserError(
                f"scales[{index}]: {scale} needs {wanted} nodes; {nodes} on offer here. Submit it with"
                " `--profile slurm`, run it in an allocation of so many nodes, or name hosts (SCALESTUDY_HOSTS)"
            )
        need = ranks * host.cores_per_rank
        if cores is not None and host.pin and need > cores:
            raise UserError(
                f"scales[{index}]: {scale} needs {ranks} ranks x {host.cores_per_rank} cores = {need} cores"
                f" on one host; {cores} are on offer. Use a smaller scale, raise --cores, or lower"
                " host.cores_per_rank"
            )
        if gpus is not None and host.device == "cuda" and ranks > gpus:
            raise UserError(
                f"scales[{index}]: {scale} needs {ranks} CUDA devices on one host; {gpus} are on offer."
                " Use a smaller scale or host.device: cpu"
            )
