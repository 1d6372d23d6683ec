# A store is written once and shared by all studies with the same data. `update` prevents Snakemake from removing the
# manifest of an existing store before the command has checked it; the command renames a complete store into place.
rule prepare_data:
    output:
        update("<resources>/data/{data}/manifest.json"),
    log:
        "<logs>/prepare/{data}.log",
    wildcard_constraints:
        data="|".join(DATASETS) or "(?!)",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        data=get_data,
        root=subpath(output[0], ancestor=2),
        code=fingerprint("prepare"),
    shell:
        "scalestudy stage prepare --data-json {params.data:q} --data {params.root:q} > {log:q} 2>&1"
