# A store is made once and shared by all studies that ask for the same data. `update` keeps Snakemake from removing the
# manifest of one that is there before the command has looked; the command renames a store that is whole into place.
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
