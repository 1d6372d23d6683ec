rule aggregate_runs:
    input:
        plan="<results>/plan.json",
        runs=collect("<results>/runs/{run}/run.sha256", run=RUNS),
    output:
        runs="<results>/runs.csv",
        epochs="<results>/epochs.csv",
        environment="<results>/environment.json",
        traces="<results>/traces.json",
        collectives="<results>/collectives.csv",
        quantiles="<results>/step_quantiles.csv",
        forecasts="<results>/forecasts.csv",
        held_out="<results>/held_out_forecasts.csv",
        factors="<results>/efficiency_factors.csv",
        summary=report(
            "<results>/comprehensive_summary.csv",
            caption="../report/captions/summary.rst",
            category="Tables",
            labels={"table": "comprehensive summary", "format": "CSV"},
        ),
    log:
        "<logs>/aggregate_runs.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(output.runs, parent=True),
        code=fingerprint("analyse", "measure", "record/protocol.py"),
    shell:
        "scalestudy aggregate --plan {input.plan:q} --results {params.results:q} > {log:q} 2>&1"
