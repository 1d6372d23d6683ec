rule plan_study:
    output:
        **results("plan"),
    log:
        "<logs>/plan_study.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(output.plan, parent=True),
        study=get_config_json,
        code=fingerprint("study"),
    shell:
        "scalestudy stage plan --config-json {params.study:q} --results {params.results:q} > {log:q} 2>&1"
