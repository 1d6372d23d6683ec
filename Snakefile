# So that plain `snakemake` works from the repository's root: the study itself is in workflow/Snakefile.
# Only where no study is given: Snakemake would merge the two, and run the workloads of both.
if "workloads" not in config:

    configfile: "config/config.yaml"


module study:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from study
