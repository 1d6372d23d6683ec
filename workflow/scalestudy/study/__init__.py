"""What is asked: the config model, and the plan of runs that follows from it. Pure; no files but the YAML."""
