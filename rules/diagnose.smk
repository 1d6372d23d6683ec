rule diagnose_study:
    input:
        **results("plan", "summary", "runs", "epochs", "forecasts"),
    output:
        **results("findings"),
    log:
        "<logs>/diagnose_study.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(input.plan, parent=True),
        code=fingerprint("diagnose", "verify", "analyse", "registry", "record/protocol.py"),
    shell:
        "scalestudy stage diagnose --results {params.results:q} > {log:q} 2>&1"
