"""Starting and judging one run from outside: command lines, processes, locks, outcomes. Does not import torch."""
