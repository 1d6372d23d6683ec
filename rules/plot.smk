rule plot_figures:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        epochs="<results>/epochs.csv",
        forecasts="<results>/forecasts.csv",
        collectives="<results>/collectives.csv",
        quantiles="<results>/step_quantiles.csv",
        held_out="<results>/held_out_forecasts.csv",
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
    threads: len(WORKLOADS)  # as many as there are; Snakemake takes no more than the host has
    params:
        out=get_folder,
        code=fingerprint("publish", "registry"),
    shell:
        "scalestudy plot --plan {input.plan:q} --summary {input.summary:q} --epochs {input.epochs:q}"
        " --forecasts {input.forecasts:q} --collectives {input.collectives:q} --quantiles {input.quantiles:q}"
        " --held-out {input.held_out:q} --out {params.out:q} --processes {threads} > {log:q} 2>&1"
