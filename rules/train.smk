# A run directory is written by its command in one rename and never by halves, and its record is no output here: Snakemake
# removes the outputs of jobs that fail or run again. What it knows a run by is the checksum of the record, which the
# command writes again wherever it finds the run measured.
# `slot` is the one measurement that a host, or an allocation, can hold at a time.
# Limits are resources and no parameters, since a longer one is no reason to measure again; the scheduler's own leaves
# time to write the record.
# `scalestudy train --spec` is `scalestudy stage train --spec`: Snakemake knows runs of release 0.1 by this shell line.
# The number of ranks comes from the spec, never from {threads} or {resources}: Snakemake caps those in silence.
rule train_baseline:
    input:
        # Prepared once: newer files are no reason to measure again, another entry in the config has another name.
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
        code=fingerprint(*MEASURING),
        reserve=[],
        data=get_data_arguments,
    shell:
        "scalestudy train --spec {params.spec:q} --time-limit-min {resources.time_limit_min}"
        " --start-limit-s {resources.start_limit_s} --stall-limit-s {resources.stall_limit_s} {params.reserve:q}"
        " {params.data:q} --results {params.results:q} > {log:q} 2>&1"


use rule train_baseline as train_distributed with:
    wildcard_constraints:
        run=matching_runs(PLAN, single=False, reserve=False),


# Launches in reserve come after those whose spread decides on them, and record that they were not needed if so.
use rule train_baseline as train_baseline_reserve with:
    input:
        get_deciding_runs,
        data=get_prepared_data,
    wildcard_constraints:
        run=matching_runs(PLAN, single=True, reserve=True),
    params:
        spec=get_spec,
        results=subpath(output[0], ancestor=3),
        code=fingerprint(*MEASURING),
        reserve=get_reserve_arguments,
        data=get_data_arguments,


use rule train_baseline_reserve as train_distributed_reserve with:
    wildcard_constraints:
        run=matching_runs(PLAN, single=False, reserve=True),
