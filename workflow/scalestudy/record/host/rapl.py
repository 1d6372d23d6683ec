"""Energy of the processor packages of this host, by RAPL through the kernel's powercap interface.

Source: Documentation/power/powercap/powercap.rst of Linux: `energy_uj` counts microjoules and wraps at
`max_energy_range_uj`. Only root can read it since CVE-2020-8694 (Linux 5.10).
"""

import os
import re
from pathlib import Path

from scalestudy.record.host.cpus import read_file

POWERCAP = Path("/sys/class/powercap")
_PACKAGE = re.compile(r"intel-rapl:\d+")
"""A top-level zone; AMD processors use the same names. `intel-rapl:0:0` is a part of a package."""


class CpuEnergy:
    """The counters of all packages of this host. `psys` zones are left out, since they include the packages."""

    def __init__(self, powercap: Path) -> None:
        self._counters: list[tuple[int, int]] = []  # (open file, where it wraps), of each package
        self._last_uj: list[int] = []
        self._sum_uj = 0
        try:
            zones = [zone for zone in sorted(powercap.iterdir()) if _PACKAGE.fullmatch(zone.name)]
            packages = [zone for zone in zones if (read_file(zone / "name") or "").startswith("package")]
            for zone in packages:
                file = os.open(zone / "energy_uj", os.O_RDONLY)  # kept open: opening takes longer than reading
                self._counters.append((file, int((zone / "max_energy_range_uj").read_text(encoding="ascii"))))
            self._last_uj = self._read_uj()
        except (OSError, ValueError):
            self._counters = []  # a sum over only some of the packages would be too small

    def joules(self) -> float | None:
        """Return the energy of all packages since this object was made, in J; None if unreadable. Never raises.

        A counter wraps after minutes at full load, so it must be read more often than that.
        """
        if not self._counters:
            return None
        try:
            now_uj = self._read_uj()
        except (OSError, ValueError):
            return None
        for (_, wraps_uj), before, now in zip(self._counters, self._last_uj, now_uj, strict=True):
            self._sum_uj += now - before if now >= before else now - before + wraps_uj
        self._last_uj = now_uj
        return self._sum_uj / 1e6

    def _read_uj(self) -> list[int]:
        return [int(os.pread(file, 32, 0)) for file, _ in self._counters]
