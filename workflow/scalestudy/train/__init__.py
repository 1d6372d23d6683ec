"""One rank of one run. Only this package imports torch."""
