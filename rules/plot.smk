rule plot_workload:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        epochs="<results>/epochs.csv",
        forecasts="<results>/forecasts.csv",
        collectives="<results>/collectives.csv",
        quantiles="<results>/step_quantiles.csv",
        held_out="<results>/held_out_forecasts.csv",
    output:
        multiext("<results>/figures/{workload}_epoch_time_detailed", ".pdf", ".png", ".csv", ".txt"),
        multiext("<results>/figures/{workload}_speedup_efficiency", ".pdf", ".png", ".csv", ".txt"),
        multiext("<results>/figures/{workload}_throughput", ".pdf", ".png", ".csv", ".txt"),
        multiext("<results>/figures/{workload}_accuracy", ".pdf", ".png", ".csv", ".txt"),
        multiext("<results>/figures/{workload}_step_breakdown", ".pdf", ".png", ".csv", ".txt"),
        multiext("<results>/figures/{workload}_memory", ".pdf", ".png", ".csv", ".txt"),
        multiext("<results>/figures/{workload}_communication", ".pdf", ".png", ".csv", ".txt"),
        multiext(
            "<results>/figures/{workload}_step_time_distribution", ".pdf", ".png", ".csv", ".txt"
        ),
        multiext("<results>/figures/{workload}_measured_forecast", ".pdf", ".png", ".csv", ".txt"),
        epoch_time=report(
            "<results>/figures/{workload}_epoch_time_detailed.svg",
            caption="../report/captions/epoch_time.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "epoch time"},
        ),
        speedup=report(
            "<results>/figures/{workload}_speedup_efficiency.svg",
            caption="../report/captions/speedup.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "speedup and efficiency"},
        ),
        throughput=report(
            "<results>/figures/{workload}_throughput.svg",
            caption="../report/captions/throughput.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "throughput"},
        ),
        accuracy=report(
            "<results>/figures/{workload}_accuracy.svg",
            caption="../report/captions/accuracy.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "accuracy"},
        ),
        breakdown=report(
            "<results>/figures/{workload}_step_breakdown.svg",
            caption="../report/captions/breakdown.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "parts of a step"},
        ),
        memory=report(
            "<results>/figures/{workload}_memory.svg",
            caption="../report/captions/memory.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "memory"},
        ),
        communication=report(
            "<results>/figures/{workload}_communication.svg",
            caption="../report/captions/communication.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "communication"},
        ),
        distribution=report(
            "<results>/figures/{workload}_step_time_distribution.svg",
            caption="../report/captions/distribution.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "distribution of step times"},
        ),
        held_out=report(
            "<results>/figures/{workload}_measured_forecast.svg",
            caption="../report/captions/held_out.rst",
            category="Figures",
            subcategory="{workload}",
            labels={"figure": "measured against forecast"},
        ),
    log:
        "<logs>/plot_workload/{workload}.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        out=subpath(output.speedup, parent=True),
        code=fingerprint("publish"),
    shell:
        "scalestudy plot --plan {input.plan:q} --summary {input.summary:q} --epochs {input.epochs:q}"
        " --forecasts {input.forecasts:q} --collectives {input.collectives:q} --quantiles {input.quantiles:q}"
        " --held-out {input.held_out:q} --workload {wildcards.workload:q} --out {params.out:q} > {log:q} 2>&1"


rule plot_study:
    input:
        plan="<results>/plan.json",
        summary="<results>/comprehensive_summary.csv",
        epochs="<results>/epochs.csv",
        forecasts="<results>/forecasts.csv",
        collectives="<results>/collectives.csv",
        quantiles="<results>/step_quantiles.csv",
        held_out="<results>/held_out_forecasts.csv",
    output:
        multiext("<results>/figures/{study_figure}", ".pdf", ".png", ".csv", ".txt"),
        svg=report(
            "<results>/figures/{study_figure}.svg",
            caption="../report/captions/crossover.rst",
            category="Figures",
            labels={"figure": "DDP against FSDP"},
        ),
    log:
        "<logs>/plot_study/{study_figure}.log",
    localrule: True
    conda:
        "../workflow/envs/scalestudy.yaml"
    params:
        out=subpath(output.svg, parent=True),
        code=fingerprint("publish"),
    shell:
        "scalestudy plot --plan {input.plan:q} --summary {input.summary:q} --epochs {input.epochs:q}"
        " --forecasts {input.forecasts:q} --collectives {input.collectives:q} --quantiles {input.quantiles:q}"
        " --held-out {input.held_out:q} --out {params.out:q} > {log:q} 2>&1"
