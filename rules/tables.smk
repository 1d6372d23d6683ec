rule render_summary_table:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
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
        template=template_digest("summary_table.tex"),
    shell:
        "scalestudy tables --plan {input.plan:q} --summary {input.summary:q}"
        " --out {output:q} > {log:q} 2>&1"
