"""Advice that is tried: which advice, in which study, and what came of it."""
