rule render_tables:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        environment="<results>/environment.json",
        numbers="<results>/numbers.json",
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
        out=subpath(output[0], parent=True),
        code=fingerprint("publish", "registry"),
        templates=[template_digest(name) for name in TABLE_TEMPLATES],
    shell:
        "scalestudy tables --plan {input.plan:q} --summary {input.summary:q} --environment {input.environment:q}"
        " --numbers {input.numbers:q} --out {params.out:q} > {log:q} 2>&1"
