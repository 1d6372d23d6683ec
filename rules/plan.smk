rule plan_study:
    output:
        "<results>/plan.json",
    log:
        "<logs>/plan_study.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        study=CONFIG_JSON,
        code=fingerprint("study"),
    shell:
        "scalestudy plan --config-json {params.study:q} --out {output:q} > {log:q} 2>&1"
