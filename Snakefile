# So that plain `snakemake` works from the repository's root: the study itself is in workflow/Snakefile.
from scalestudy.chain.locks import note_locks

# Only where no study is given: Snakemake would merge the two, and run the workloads of both.
if "workloads" not in config:

    configfile: "config/config.yaml"


module study:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from study


# So that a call after this one knows whose lock it meets, should this one be killed.
onstart:
    note_locks(workflow.persistence)


# Launches that ended with their job and could not say so; handlers are not part of what a module lends.
onerror:
    shell(f"scalestudy stage settle --results results/{config['study']}")
