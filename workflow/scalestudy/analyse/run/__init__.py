"""One launch: its steady steps, memory, clocks and ranks."""
