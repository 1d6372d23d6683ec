# With `measure.until: decided`, chooses the next runs from the results of the previous ones. The decision covers all points,
# since they share baselines and a budget. The file is a function of the records: the same records give the same file, and
# Snakemake then repeats no run.
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
