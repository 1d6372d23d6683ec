"""The verbs of the command line, one function each. Heavy imports are inside the functions."""
