"""The two sides of a guard, and its decision."""
