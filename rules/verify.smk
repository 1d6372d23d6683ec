# Advice that is tried, in studies of its own: they run within this job, which holds the slot of all measurements. Asked for by
# name, `snakemake verify`; what is finished is not run again.
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
        profile=get_profile_arguments,
        code=fingerprint("verify", "analyse", "registry", "record/protocol.py"),
    shell:
        "scalestudy verify --results {params.results:q} {params.profile:q} > {log:q} 2>&1"
