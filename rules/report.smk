# The documents a reader opens; the target that asks for them is in workflow/Snakefile.
rule write_text_report:
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
        code=fingerprint("publish"),
        template=template_digest("performance_report.txt"),
    shell:
        "scalestudy text --plan {input.plan:q} --summary {input.summary:q} --runs {input.runs:q}"
        " --forecasts {input.forecasts:q} --factors {input.factors:q} --findings {input.findings:q}"
        " --environment {input.environment:q} --traces {input.traces:q} --numbers {input.numbers:q}"
        " --out {output:q} > {log:q} 2>&1"


rule write_page:
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
        code=fingerprint("publish"),
        template=template_digest("report.html", "report.js"),
    shell:
        "scalestudy page --plan {input.plan:q} --summary {input.summary:q} --runs {input.runs:q}"
        " --forecasts {input.forecasts:q} --factors {input.factors:q} --findings {input.findings:q}"
        " --environment {input.environment:q} --traces {input.traces:q} --numbers {input.numbers:q}"
        " --figures {input.figures:q} --out {output:q} > {log:q} 2>&1"


rule write_numbers:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        runs="<results>/runs.csv",
        forecasts="<results>/forecasts.csv",
        factors="<results>/efficiency_factors.csv",
        findings="<results>/findings.json",
        environment="<results>/environment.json",
        traces="<results>/traces.json",
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
        code=fingerprint("publish"),
        template=template_digest("numbers.tex"),
    shell:
        "scalestudy numbers --plan {input.plan:q} --summary {input.summary:q} --runs {input.runs:q}"
        " --forecasts {input.forecasts:q} --factors {input.factors:q} --findings {input.findings:q}"
        " --environment {input.environment:q} --traces {input.traces:q} --out {output.json:q} > {log:q} 2>&1"
