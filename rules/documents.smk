# LaTeX documents. Their PDFs have a separate rule, which is requested only if LaTeX is installed.
rule write_documents:
    input:
        **results(*DOCUMENTED, "numbers"),
        **verified_advice(),
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
        results=subpath(input.plan, parent=True),
        tried=get_tried_by_hand,
        command=get_command,
        code=fingerprint("publish", "registry", "verify", "record/protocol.py"),
        templates=[template_digest(name) for name in DOCUMENT_TEMPLATES],
    shell:
        "scalestudy stage documents --results {params.results:q} --command {params.command:q} > {log:q} 2>&1"


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
        code=fingerprint("publish", "registry", "record/protocol.py"),
    shell:
        "scalestudy stage typeset {input.source:q} --out {output:q} --tex-log {log.tex:q} > {log.said:q} 2>&1"
