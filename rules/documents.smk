# Documents for LaTeX. Their PDFs have a rule of their own, which is asked for only where LaTeX is there.
rule write_documents:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        runs="<results>/runs.csv",
        forecasts="<results>/forecasts.csv",
        factors="<results>/efficiency_factors.csv",
        findings="<results>/findings.json",
        environment="<results>/environment.json",
        traces="<results>/traces.json",
        numbers="<results>/numbers.json",
        tables=collect("<results>/tables/{table}.tex", table=TABLES),
        figures=collect("<results>/figures/{figure}.pdf", figure=DRAWN),
        points=collect("<results>/figures/{figure}.csv", figure=DRAWN),
    output:
        collect("<results>/{document}.tex", document=DOCUMENTS),
        artifact=report(
            "<results>/artifact_description.tex",
            caption="../report/captions/documents.rst",
            category="Documents",
            labels={"document": "artifact description", "format": "LaTeX"},
        ),
    log:
        "<logs>/write_documents.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        out=subpath(output.artifact, parent=True),
        command=get_command(),
        code=fingerprint("publish"),
        templates=[template_digest(name) for name in DOCUMENT_TEMPLATES],
    shell:
        "scalestudy documents --plan {input.plan:q} --summary {input.summary:q} --runs {input.runs:q}"
        " --forecasts {input.forecasts:q} --factors {input.factors:q} --findings {input.findings:q}"
        " --environment {input.environment:q} --traces {input.traces:q} --numbers {input.numbers:q}"
        " --tables {input.tables:q} --figures {input.figures:q}"
        " --command {params.command:q} --out {params.out:q} > {log:q} 2>&1"


rule typeset_document:
    input:
        source="<results>/{document}.tex",
        artifact="<results>/artifact_description.tex",
        tables=collect("<results>/tables/{table}.tex", table=TABLES),
        figures=collect("<results>/figures/{figure}.pdf", figure=DRAWN),
    output:
        report(
            "<results>/{document}.pdf",
            caption="../report/captions/documents.rst",
            category="Documents",
            labels={"document": "{document}", "format": "PDF"},
        ),
    log:
        said="<logs>/typeset_document/{document}.log",
        tex="<logs>/typeset_document/{document}.tex.log",
    wildcard_constraints:
        document="|".join(DOCUMENTS),
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        code=fingerprint("publish"),
    shell:
        "scalestudy typeset {input.source:q} --out {output:q} --tex-log {log.tex:q} > {log.said:q} 2>&1"
