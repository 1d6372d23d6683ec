# The documents for readers; the target that requests them is in workflow/Snakefile.
rule write_text_report:
    input:
        **results(*DOCUMENTED, "numbers"),
        **verified_advice(),
    output:
        report(
            "<results>/performance_report.txt",
            caption="../report/captions/findings.rst",
            category="Findings",
            labels={"document": "diagnostic report", "format": "text"},
        ),
    log:
        "<logs>/write_text_report.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(input.plan, parent=True),
        tried=get_tried_by_hand,
        code=fingerprint("publish", "registry", "verify", "record/protocol.py"),
        template=template_digest("performance_report.txt"),
    shell:
        "scalestudy stage text --results {params.results:q} > {log:q} 2>&1"


rule write_page:
    input:
        **results(*DOCUMENTED, "numbers"),
        **verified_advice(),
        figures=collect("<results>/figures/{figure}.svg", figure=DRAWN),
        beside=collect("<results>/figures/{figure}.{format}", figure=DRAWN, format=["csv", "txt"]),
    output:
        report(
            "<results>/report.html",
            caption="../report/captions/findings.rst",
            category="Findings",
            labels={"document": "report", "format": "page"},
        ),
    log:
        "<logs>/write_page.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(input.plan, parent=True),
        tried=get_tried_by_hand,
        code=fingerprint("publish", "registry", "verify", "record/protocol.py"),
        template=template_digest("report.html", "report.css", "report.js", "../../docs/glossary.md"),
    shell:
        "scalestudy stage page --results {params.results:q} > {log:q} 2>&1"


rule write_numbers:
    input:
        **results(*DOCUMENTED),
        **verified_advice(),
    output:
        json=report(
            "<results>/numbers.json",
            caption="../report/captions/numbers.rst",
            category="Numbers",
            labels={"numbers": "by key", "format": "JSON"},
        ),
        tex=report(
            "<results>/numbers.tex",
            caption="../report/captions/numbers.rst",
            category="Numbers",
            labels={"numbers": "by key", "format": "LaTeX"},
        ),
    log:
        "<logs>/write_numbers.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(input.plan, parent=True),
        tried=get_tried_by_hand,
        code=fingerprint("publish", "registry", "verify", "record/protocol.py"),
        template=template_digest("numbers.tex"),
    shell:
        "scalestudy stage numbers --results {params.results:q} > {log:q} 2>&1"
