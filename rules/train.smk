# The command moves a complete run directory into place with one rename. The record is not an output of this rule, because
# Snakemake removes the outputs of jobs that fail or run again. The output is the checksum of the record, which the
# command writes again whenever it finds the run measured.
# `slot` limits a host, or an allocation, to one measurement at a time.
# Limits are resources and not parameters, since a longer limit does not require a new measurement; the scheduler's own limit
# leaves time to write the record.
# No code is a parameter: what is measured has a version, and only the user requests a new measurement
# (docs/protocol.md). Snakemake recognises finished runs by this shell line and these parameters, so both must not change.
# The number of ranks comes from the spec, never from {threads} or {resources}: Snakemake caps those silently.
rule train_baseline:
    input:
        # Prepared once: newer files do not require a new measurement, and another entry in the config has another name.
        data=get_prepared_data,
    output:
        "<results>/runs/{run}/run.sha256",
    log:
        "<logs>/train/{run}.log",
    wildcard_constraints:
        run=matching_runs(PLAN, single=True, reserve=False),
    priority: get_launch_priority
    group:
        get_allocation
    conda:
        "../workflow/envs/scalestudy.yaml"
    threads: get_cores
    resources:
        slot=1,
        gpu=get_local_devices,
        gres=requested("gres"),
        nodes=requested("nodes"),
        tasks=requested("nodes"),
        tasks_per_gpu=0,
        mpi=requested("mpi"),
        mem_mb=requested("memory_mb"),
        time_limit_min=str(LIMITS.time_limit_min),
        start_limit_s=str(LIMITS.start_limit_s),
        stall_limit_s=str(LIMITS.stall_limit_s),
        runtime=launch_min(PLAN),
    params:
        spec=get_spec,
        results=subpath(output[0], ancestor=3),
        code=get_code_of_0_1,
        reserve=[],
        data=get_data_arguments,
    shell:
        "scalestudy train --spec {params.spec:q} --time-limit-min {resources.time_limit_min}"
        " --start-limit-s {resources.start_limit_s} --stall-limit-s {resources.stall_limit_s} {params.reserve:q}"
        " {params.data:q} --results {params.results:q} > {log:q} 2>&1"


use rule train_baseline as train_distributed with:
    wildcard_constraints:
        run=matching_runs(PLAN, single=False, reserve=False),


# Runs in reserve come after the runs or the decision on which they depend. If they are not needed, they record that.
use rule train_baseline as train_baseline_reserve with:
    input:
        get_deciding_runs,
        data=get_prepared_data,
    wildcard_constraints:
        run=matching_runs(PLAN, single=True, reserve=True),
    params:
        spec=get_spec,
        results=subpath(output[0], ancestor=3),
        code=get_code_of_0_1,
        reserve=get_reserve_arguments,
        data=get_data_arguments,


use rule train_baseline_reserve as train_distributed_reserve with:
    wildcard_constraints:
        run=matching_runs(PLAN, single=False, reserve=True),
