# A run directory is written by its command in one rename and never by halves. `update` keeps Snakemake from removing
# what was measured before: the command itself knows whether a run is there and by which code it was measured.
# run.json vouches for the steps, epochs and log beside it.
# `slot` is the one measurement that a host can hold at a time; on a cluster the allocation separates them.
# The time limit is a resource and no parameter, since a longer one is no reason to measure again; the scheduler's own
# limit leaves time to write the record.
# The number of ranks comes from the spec, never from {threads} or {resources}: Snakemake caps those in silence.
rule train_baseline:
    output:
        update("<results>/runs/{run}/run.json"),
    log:
        "<logs>/train/{run}.log",
    wildcard_constraints:
        run="|".join(ids_by_strategy(single=True)),
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
    shell:
        "scalestudy train --spec {params.spec:q} --time-limit-min {resources.time_limit_min}"
        " --results {params.results:q} > {log:q} 2>&1"


use rule train_baseline as train_distributed with:
    wildcard_constraints:
        run="|".join(ids_by_strategy(single=False)),
