"""Makes Snakemake submit with our executor, however a study is started."""

from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry


def be_patient() -> None:
    """Use PatientExecutor where a profile has `executor: slurm`. Without the plug-in this does nothing."""
    if plugin := ExecutorPluginRegistry().plugins.get("slurm"):
        from scalestudy.chain.slurm.executor import PatientExecutor  # needs the plug-in

        plugin.executor = PatientExecutor
