# So that plain `snakemake` works from the repository's root: the study itself is in workflow/Snakefile.
configfile: "config/config.yaml"


module study:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from study
