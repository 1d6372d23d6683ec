# Makes plain `snakemake` work in the root of the repository; the workflow itself is in workflow/Snakefile.
from scalestudy.chain.locks import note_locks

# Only if no study is given: otherwise Snakemake would merge the two files and run the workloads of both.
if "workloads" not in config:

    configfile: "config/config.yaml"


module study:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from study


# If this call is killed, the next one can identify the owner of its lock.
onstart:
    note_locks(workflow.persistence)


# Records runs that were killed together with their job. `use rule` does not import handlers from a module.
onerror:
    shell(f"scalestudy stage settle --results results/{config['study']}")
