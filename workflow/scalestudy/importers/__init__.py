"""What others have measured and printed, read into our own terms. Nothing is computed here but units."""
