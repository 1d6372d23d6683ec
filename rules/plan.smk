rule plan_study:
    output:
        **results("plan"),
    log:
        "<logs>/plan_study.log",
    priority: len(RUNS) + 1  # before the first run, since the screen counts runs by the plan
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(output.plan, parent=True),
        study=get_config_json,
        code=fingerprint("study"),
    shell:
        "scalestudy stage plan --config-json {params.study:q} --results {params.results:q} > {log:q} 2>&1"
