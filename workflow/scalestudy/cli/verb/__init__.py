"""What people type: one module a verb, its command called `command`; heavy imports wait until it is called."""

from __future__ import annotations

NAMES = ("new", "plan", "run", "summary", "number", "compare", "estimate", "audit", "find-batch", "demo", "retry")
MODULES = {name: f"{__name__}.{name.replace('-', '_')}" for name in NAMES}
