"""One launch as seen from outside: command lines, processes, locks, outcomes. Imports no torch."""
