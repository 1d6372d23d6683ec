"""Data from files: fetched once, checked, and converted to arrays that all runs share. Does not import torch."""
