rule diagnose_study:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        forecasts="<results>/forecasts.csv",
    output:
        "<results>/findings.json",
    log:
        "<logs>/diagnose_study.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        code=fingerprint("diagnose", "analyse", "record/protocol.py"),
    shell:
        "scalestudy diagnose --plan {input.plan:q} --summary {input.summary:q}"
        " --forecasts {input.forecasts:q} --out {output:q} > {log:q} 2>&1"
