rule aggregate_runs:
    input:
        **results("plan"),
        runs=collect("<results>/runs/{run}/run.sha256", run=RUNS),
    output:
        **results("runs", "epochs", "collectives", "quantiles", "factors", "floors", "forecasts"),
        **results("held_out"),
        **results("checksums", "environment", "traces"),
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
        results=subpath(input.plan, parent=True),
        code=fingerprint("analyse", "measure", "registry", "record/protocol.py"),
    shell:
        "scalestudy stage aggregate --results {params.results:q} > {log:q} 2>&1"
