rule render_summary_table:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        template=workflow.source_path("../report/templates/summary_table.tex"),
    output:
        report(
            "<results>/tables/summary_table.tex",
            caption="../report/captions/summary.rst",
            category="Tables",
            labels={"table": "summary", "format": "LaTeX"},
        ),
    log:
        "<logs>/render_summary_table.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        code=fingerprint("publish"),
    shell:
        "scalestudy tables --plan {input.plan:q} --summary {input.summary:q}"
        " --template {input.template:q} --out {output:q} > {log:q} 2>&1"
