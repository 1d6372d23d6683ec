rule plot_figures:
    input:
        **results("plan", "summary", "epochs", "forecasts", "collectives", "quantiles", "held_out"),
        **verified_advice(),
    output:
        collect(
            "<results>/figures/{figure}.{format}",
            figure=DRAWN,
            format=["pdf", "png", "csv", "txt"],
        ),
        svg=get_reported_figures(),
    log:
        "<logs>/plot_figures.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    threads: len(DRAWN)  # one per figure; Snakemake limits it to the cores of the host
    params:
        results=subpath(input.plan, parent=True),
        tried=get_tried_by_hand,
        code=fingerprint("publish", "registry", "verify"),
    shell:
        "scalestudy stage plot --results {params.results:q} --processes {threads} > {log:q} 2>&1"
