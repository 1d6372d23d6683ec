rule render_tables:
    input:
        **results("plan", "summary", "environment", "numbers"),
        **verified_advice(),
    output:
        report(
            collect("<results>/tables/{table}.tex", table=TABLES),
            caption="../report/captions/tables.rst",
            category="Tables",
            labels={"table": "of the paper", "format": "LaTeX"},
        ),
    log:
        "<logs>/render_tables.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(input.plan, parent=True),
        tried=get_tried_by_hand,
        code=fingerprint("publish", "registry", "verify"),
        templates=[template_digest(name) for name in TABLE_TEMPLATES],
    shell:
        "scalestudy stage tables --results {params.results:q} > {log:q} 2>&1"
