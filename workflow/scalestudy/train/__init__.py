"""One rank of one run. The code that needs torch is in this package."""
