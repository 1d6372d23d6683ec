"""The command line: verbs that people type, and stages that the rules of the workflow call."""
