"""One run: its steady steps, memory, clocks and ranks."""
