# A run directory is written by its command in one rename and never by halves. `update` keeps Snakemake from removing
# what was measured before: the command itself knows whether a run is there and by which code it was measured.
# run.json vouches for the steps, epochs and log beside it.
# `slot` is the one measurement that a host can hold at a time; on a cluster the allocation separates them.
# The time limit is a resource and no parameter, since a longer one is no reason to measure again; the scheduler's own
# limit leaves time to write the record.
# The number of ranks comes from the spec, never from {threads} or {resources}: Snakemake caps those in silence.
rule train_baseline:
    input:
        # Prepared once: newer files are no reason to measure again, another entry in the config has another name.
        data=get_prepared_data,
    output:
        update("<results>/runs/{run}/run.json"),
    log:
        "<logs>/train/{run}.log",
    wildcard_constraints:
        run=matching_runs(single=True),
    priority: get_launch_priority
    conda:
        "../workflow/envs/scalestudy.yaml"
    threads: get_cores
    resources:
        slot=1,
        gpu=get_devices,
        nodes=1,
        tasks=1,
        mem_mb=8000,
        time_limit_min=str(TIME_LIMIT_MIN),
        runtime=ceil(TIME_LIMIT_MIN) + 5,
    params:
        spec=get_spec,
        results=subpath(output[0], ancestor=3),
        code=fingerprint(*MEASURING),
        reserve=[],
        data=get_data_arguments,
    shell:
        "scalestudy train --spec {params.spec:q} --time-limit-min {resources.time_limit_min} {params.reserve:q}"
        " {params.data:q} --results {params.results:q} > {log:q} 2>&1"


use rule train_baseline as train_distributed with:
    wildcard_constraints:
        run=matching_runs(single=False),


# Launches in reserve come after those whose spread decides on them, and record that they were not needed if so.
use rule train_baseline as train_baseline_reserve with:
    input:
        get_deciding_runs,
        data=get_prepared_data,
    wildcard_constraints:
        run=matching_runs(single=True, reserve=True),
    params:
        spec=get_spec,
        results=subpath(output[0], ancestor=3),
        code=fingerprint(*MEASURING),
        reserve=get_reserve_arguments,
        data=get_data_arguments,


use rule train_baseline_reserve as train_distributed_reserve with:
    wildcard_constraints:
        run=matching_runs(single=False, reserve=True),
