# Tries advice in separate studies. They run within this job, which holds the slot of all measurements. The rule is requested
# by name, `snakemake verify`, or by the study (`verify.mode: auto`). Finished trials are not run again. The highest cost is
# printed first.
rule verify:
    input:
        **results("plan", "runs", "findings"),
    output:
        **results("verification", "verified"),
    log:
        "<logs>/verify.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    resources:
        slot=1,
    params:
        results=subpath(input.plan, parent=True),
        data=get_trial_data_arguments,
        profile=get_profile_arguments,
        most=PLAN.study.verify.most,
        budget=get_verify_budget,
        keep_going=["--keep-going"] if AUTO_VERIFIED else [],
        code=fingerprint("verify", "analyse", "registry", "record/protocol.py"),
    shell:
        "scalestudy verify --results {params.results:q} --most {params.most} {params.budget:q} --dry-run --keep-going"
        " > {log:q} 2>&1 &&"
        " scalestudy verify --results {params.results:q} --most {params.most} {params.budget:q} {params.profile:q}"
        " {params.data:q} {params.keep_going:q} >> {log:q} 2>&1"
