"""How Snakemake comes to submit by our executor, whichever way a study is started."""

from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry


def be_patient() -> None:
    """Submit by PatientExecutor wherever a profile says `executor: slurm`. Without the plug-in nothing changes."""
    if plugin := ExecutorPluginRegistry().plugins.get("slurm"):
        from scalestudy.chain.slurm.executor import PatientExecutor  # it needs the plug-in

        plugin.executor = PatientExecutor
