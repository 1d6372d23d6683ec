# Which launches are made next, where `measure.until: decided` leaves that to what the launches before them have shown. All
# points are decided on together, since they share base cases and a budget. The file is a function of the records: made
# again from the same ones it is the same, and Snakemake then launches nothing again.
rule decide_on_launches:
    input:
        **results("plan"),
        runs=get_runs_before_decision,
    output:
        f"<results>/{DECISIONS}",
    log:
        "<logs>/decide_on_launches/after_{repeats}.log",
    wildcard_constraints:
        repeats=r"\d+",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        results=subpath(input.plan, parent=True),
        code=fingerprint("analyse", "measure", "registry", "study", "record/protocol.py"),
    shell:
        "scalestudy stage decide --after {wildcards.repeats} --results {params.results:q} > {log:q} 2>&1"
