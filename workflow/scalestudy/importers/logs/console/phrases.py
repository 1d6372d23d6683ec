"""The named numbers of a line that a trainer prints: `loss: 3.2`, `time 561.94ms`, `[1][50/7330]`, `400.3/s`."""

from __future__ import annotations

import re

from scalestudy.importers.logs.console.phrase import ELAPSED, EPOCH, NUMBER, Phrase
from scalestudy.importers.logs.quantities import Meaning, meaning_of
from scalestudy.importers.logs.trainers import Trainer

UNIT = (
    rb"(?:[a-zA-Z\xc2\xb5]{1,8}/[a-zA-Z]{1,10}(?:/[a-zA-Z]{1,8}| per (?i:gpu|device|chip|core)\b)?"
    rb"|/(?:second|sec|s)(?:/[a-zA-Z]{1,8})?|/(?:gpu|device|rank)"
    rb"|[a-zA-Z]{1,8} per (?:s|sec|second|step|iter|iteration|batch|gpu|device)\b"
    rb"|(?:ms|us|s|sec|secs|seconds|min|mins|minutes|h|hr|hrs|hours)\b)"
)
_NUMBERS = re.compile(
    rb"(?<![\w.])(?<!\d:)(?P<number>%b)(?!:\d)(?P<unit> ?%b(?!\w|[=:]| =))?(?P<mean> *\( *[\d.]+s?[,)])?"
    % (NUMBER, UNIT)
)
POSITION = re.compile(
    rb"(?:(?:\[ *|\b[Ee]poch:? *\[?|Train: )(?P<epoch>\d{1,9})(?:/\d+)? *\]? *[,|:-]? *)?"
    rb"(?:\[ *|^ *)(?P<step>\d{1,15}) */ *(?P<total>\d{1,15})(?= *[\]\[( ])(?! \d\d:)"
)
"""`[epoch][step/steps of the epoch]`, or `step/steps [====]` at the begin of a line."""
_ALL_STEPS = re.compile(rb"(?<![\w.])(?P<value>\d{1,9})s (?P<each>\d{1,9})(?:us|ms|s)/(?:step|sample)\b")
PER_STEP = b"s/s"
"""In every line that has this."""
_OF_EPOCHS = re.compile(rb"(?i)\bepochs?:? *\[ *$")
_OF_TOTAL = re.compile(
    rb"(?<![\w./-])(?P<value>\d{1,15}) */ *(?P<total>\d{1,15}) *(?:batches|steps|iterations|iters|its)\b"
)
"""`200/ 2983 batches`."""
_WINDOW = re.compile(rb"step = \d+ \((?P<number>[\d.]+) sec\)")
_TAKEN = re.compile(
    rb"(?<![\w.])(?P<steps>[1-9]\d{0,8}) (?:steps|iterations|iters|updates|batches) (?:take|took|in):? "
    rb"(?P<number>\d+(?:\.\d+)?)(?P<unit> ?(?:ms|s|secs?|seconds))\b"
)
"""`1000 steps take 8.641 seconds`."""
_PASSED = re.compile(rb"(?<![\w.])(?P<value>\d{1,15}(?:\.\d{1,20})?)(?P<unit> ?(?:ms|s|secs?|seconds)) elapsed\b")
"""`160.1 seconds elapsed`."""
_ALONE = re.compile(rb"[|,;] *(?P<number>\d+(?:\.\d+)?)(?P<unit> ?(?:ms|s|secs?|seconds))(?= *[|,;])")
_DELIMITERS = re.compile(rb"[|,;\t{}\[\]\"'>*<]+| - |  +|\) ")
_DATE = (
    rb"(?P<day>\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4}|(?<![\d/-])\d\d(?:/\d\d(?:/\d\d)?|-\d\d-\d\d)"
    rb"|(?<=\b[IWEF])(?:\d{4}){1,2})"
    rb"[T ,]{1,2}(?P<time>\d\d:\d\d:\d\d)"
)
STAMP = re.compile(_DATE + rb"(?:[.,](?P<fraction>\d{1,9}))?(?! *[AP]M)")
_IN_A_CELL = ("step_time_s", "work_per_s", "loss", "step")
"""What a number after a name without a colon may be, where the name is all of its cell."""
_SPACED = frozenset(
    ("step", "iter", "iteration", "time", "speed", "batch time", "batch", "took", "takes", "up.", "total")
)
"""Names that a number may follow without a colon."""
_IN_SECONDS = frozenset(("total", "total time"))
"""Names of a time that another number may have, such as a loss, where it has no unit of time."""
_OF_ANYTHING = frozenset(("time", "duration", "took", "takes", *_IN_SECONDS, *ELAPSED))
"""Names of a time that the word before them, such as `data`, makes that of something else."""
_STEPS = {name: Meaning("step") for name in ("completed step", "update", "train step", "up.")}
_MORE = {
    **_STEPS,
    "dt": Meaning("step_time_s"),
    "s/it": Meaning("step_time_s"),
    "tgs": Meaning("work_per_s", unit="tokens", per="device"),
    "wps": Meaning("work_per_s", unit="tokens"),
    "loss train": Meaning("loss"),
    "batch": Meaning("step"),
    "per-step time": Meaning("step_time_s"),
    **{name: Meaning("step_time_s", factor=None) for name in ("took", "takes")},
    "tps": Meaning("work_per_s", unit="tokens"),
    "time": Meaning("step_time_s", factor=None),
}
"""Names that mean this in lines of a trainer, and less in the header of a table."""
_FACTORS = {b"ms": 1e-3, b"us": 1e-6, b"s": 1.0, b"sec": 1.0, b"secs": 1.0, b"seconds": 1.0}
_FACTORS |= dict.fromkeys((b"min", b"mins", b"minutes"), 60.0) | dict.fromkeys(
    (b"h", b"hr", b"hrs", b"hours"), 3600.0
)
_THOUSANDS = (b"k", b"K", b"M", b"G")
_MOST_WORDS = 6
_ENVIRONMENT = re.compile(rb"(?i)\btotal[ _](?:time|env|environment|agent)?[ _]?steps?\b['\"]?[ :=|]{1,40}\d")
_TOTAL_STEPS = re.compile(r"\btotal[ _](?:time|env|environment|agent)?[ _]?steps?$")
"""A name of steps of an environment, of which an iteration has several."""


def phrases(line: bytes, trainer: Trainer) -> dict[str, Phrase]:
    """Return the numbers of a line that are read, by quantity; also a position in brackets as `step`."""
    found, steps = _named(line, trainer)
    if "step_time_s" not in found and (taken := _TAKEN.search(line)):
        found |= _of_several(taken)
    if "step_time_s" not in found and (passed := _PASSED.search(line)):
        found["step_time_s"] = _since_start(passed)
    counted = steps or (trainer.step and trainer.step.search(line))
    if _ENVIRONMENT.search(line):
        found = {name: one for name, one in found.items() if one.unit != "steps"}
    if "step_time_s" not in found and ("work_per_s" in found or counted) and (alone := _ALONE.search(line)):
        found["step_time_s"] = _unnamed(alone)
    if trainer.of_rows and (window := _WINDOW.search(line)):
        found["step_time_s"] = Phrase("", "step_time_s", window.start("number"), window["number"], b" sec", 1.0)
    return found | _counted(line, trainer, steps, found.get("step_time_s"))


def _named(line: bytes, trainer: Trainer) -> tuple[dict[str, Phrase], list[Phrase]]:
    """(the numbers with a name or a unit, by quantity; all that count steps)"""
    found: dict[str, Phrase] = {}
    steps: list[Phrase] = []
    end = 0
    for match in _NUMBERS.finditer(line):
        before, start = line[end : match.start()], match.start()
        end = match.end("unit") if match["unit"] else match.end("number")
        phrase = _phrase(before, start, match, trainer)
        if phrase is None:
            continue
        if phrase.quantity == "step":
            steps.append(phrase)
        else:
            _keep(phrase, found)
    return found, steps


def _keep(phrase: Phrase, found: dict[str, Phrase]) -> None:
    """Add a number to those of its line; of two of the same quantity the first or the clearer one."""
    if phrase.unit == "steps" and phrase.factor == 1.0 and phrase.per != "device":
        found.setdefault("steps_per_s", phrase)
    kept = found.setdefault(phrase.quantity, phrase)
    if kept.unit == "steps" != phrase.unit and phrase.per != "device":
        kept = found[phrase.quantity] = phrase  # the work of a step counts more than their number
    if (phrase.quantity, phrase.per) == ("work_per_s", "device") != (kept.quantity, kept.per) and (
        phrase.unit in ("", kept.unit)
    ):
        found.setdefault("rate_of_device", phrase)
    if (kept.factor is None and phrase.factor is not None) or (phrase.of_a_step and not kept.of_a_step):
        found[phrase.quantity] = phrase


def _counted(line: bytes, trainer: Trainer, steps: list[Phrase], time: Phrase | None) -> dict[str, Phrase]:
    """What counts the steps of a line, and its epoch. steps: its numbers with the name of a step."""
    found = {}
    if trainer.step and (place := trainer.step.search(line)):
        found["step"] = Phrase("", "step", place.start(), place["value"], pattern=trainer.step)
    elif steps:
        counter = found["step"] = _counter(steps, time)
        optimizer = [step for step in steps if "step" in step.name.lower()]
        if "iter" in counter.name.lower() and optimizer:
            found["optimizer_step"] = optimizer[0]
    elif place := _OF_TOTAL.search(line):
        found["step"] = Phrase("", "step", place.start(), place["value"], pattern=_OF_TOTAL)
    elif place := position_of(line):
        found["step"] = Phrase(
            "", "step", place.start(), place["step"], b"/" + place["total"], position=True, whole=place[0]
        )
    if steps and (epoch := EPOCH.search(line)):
        found["epoch"] = Phrase("epoch", "epoch", epoch.start(), epoch["value"])
    return found


def of_all_steps(rows: list[bytes]) -> Phrase | None:
    """Return the time of all steps of an epoch, as in `1843s 2s/step`; None if that of a step has more digits."""
    found = [_ALL_STEPS.search(row) for row in rows]
    digits = [(int(match["value"]), int(match["each"])) for match in found if match]
    if len(digits) < len(rows) or not all(total > each for total, each in digits):
        return None
    last = found[-1]
    assert last is not None
    return Phrase("", "step_time_s", last.start(), last["value"], b"s", 1.0, pattern=_ALL_STEPS, of_a_step=True)


def position_of(line: bytes) -> re.Match[bytes] | None:
    """Return the position of the step in a line; `Epoch [3/300]` alone is that of an epoch."""
    found = POSITION.search(line)
    while found and not found["epoch"] and _OF_EPOCHS.search(line, 0, found.start("step")):
        found = POSITION.search(line, found.end())
    return found


def _since_start(passed: re.Match[bytes]) -> Phrase:
    """A time that has passed, `160.1 seconds elapsed`."""
    unit = passed["unit"]
    pattern = re.compile(rb"(?<![\w.])(?P<value>\d{1,15}(?:\.\d{1,20})?)%b elapsed\b" % unit)
    factor = _FACTORS[unit.strip()]
    return Phrase("elapsed", "step_time_s", passed.start(), passed["value"], unit, factor, pattern=pattern)


def _of_several(taken: re.Match[bytes]) -> dict[str, Phrase]:
    """The steps since the row before, and the time of one of them, by the time that all take."""
    before = taken.string[taken.start() : taken.start("number")]
    steps = int(taken["steps"])
    tail = before[len(taken["steps"]) :]
    counted = rb"(?<![\w.])(?P<value>%b)(?=%b\d)" % (taken["steps"], re.escape(tail))
    timed = rb"(?<=%b)(?P<value>\d+(?:\.\d+)?)(?=%b\b)" % (re.escape(before), taken["unit"])
    return {
        "step": Phrase(
            "", "step", taken.start(), taken["steps"], tail.rstrip(), pattern=re.compile(counted), since_row=True
        ),
        "step_time_s": Phrase(
            "",
            "step_time_s",
            taken.start("number"),
            taken["number"],
            taken["unit"],
            _FACTORS[taken["unit"].strip()] / steps,
            pattern=re.compile(timed),
            of_a_step=True,
        ),
    }


def _unnamed(alone: re.Match[bytes]) -> Phrase:
    """A time that is all of its cell, of a row with a throughput."""
    return Phrase(
        "", "step_time_s", alone.start("number"), alone["number"], alone["unit"], _FACTORS[alone["unit"].strip()]
    )


def _counter(steps: list[Phrase], time: Phrase | None) -> Phrase:
    """The count of what the time is of: `iter time` is of an iteration, of which a step may have several."""
    for word in ("iter", "step"):
        if time and word in time.name.lower():
            return next((step for step in steps if word in step.name.lower()), steps[0])
    return steps[0]


def _phrase(before: bytes, start: int, match: re.Match[bytes], trainer: Trainer) -> Phrase | None:
    if match.string[match.end("number") :][:2].rstrip() in _THOUSANDS:
        return None  # `12.5k tok/s`: its factor is not read
    before = before.rstrip()
    spaced = not before.endswith((b":", b"=", b"#", b"["))
    text = _DELIMITERS.split(before.rstrip(b" :=#'\"["))[-1].rsplit(b":", 1)[-1].lstrip(b"- ")
    words = text.decode("utf-8", "replace").split(" ")[-_MOST_WORDS:] if text else []
    unit = (match["unit"] or b"").strip().replace(b" per ", b"/")
    if before.endswith(b"/") or (before.endswith(b"(") and not unit):
        return None
    if before.endswith((b"(", b"[")) and b"/" in unit:
        words = []
    for first in range(len(words)):
        name = " ".join(words[first:]).strip()
        name = name if ")" in name else name.lstrip("(")
        meaning = _meaning(name, unit, trainer)
        if meaning is None or (
            spaced and name.lower() not in _SPACED and (first or meaning.quantity not in _IN_A_CELL)
        ):
            continue
        if first and name.lower() in _OF_ANYTHING and words[first - 1].isalpha():
            continue  # `data time` is the time of a part
        if meaning.quantity == "step" and _TOTAL_STEPS.search(" ".join(words).lower()):
            return None
        if before.endswith(b"[") and meaning.quantity != "step":
            continue
        return _made(name, start, match, meaning, unit)
    if unit.lower() in (b"/gpu", b"/device", b"/rank"):
        return (
            _made("", start, match, Meaning("work_per_s", per="device"), unit) if before.endswith(b"(") else None
        )
    if not words and b"/" in unit:
        meaning = meaning_of(f"samples{unit.decode()}" if unit[:1] == b"/" else unit.decode())
        if meaning and meaning.quantity in ("work_per_s", "step_time_s"):
            said = "" if unit[:1] == b"/" else meaning.unit
            return _made("", start, match, Meaning(meaning.quantity, meaning.factor, said, meaning.per), unit)
    return None


def _made(name: str, start: int, match: re.Match[bytes], meaning: Meaning, unit: bytes) -> Phrase:
    factor = meaning.factor
    if meaning.quantity in ("step_time_s", "clock_s"):
        factor = _FACTORS.get(unit, factor)
    return Phrase(
        name,
        meaning.quantity,
        start - len(name),
        match["number"],
        match["unit"] or b"",
        factor,
        meaning.unit,
        meaning.per,
        averaged=match["mean"] is not None,
        end=match.end("unit") if match["unit"] else match.end("number"),
        of_a_step=name.lower() not in _OF_ANYTHING,
    )


def _meaning(name: str, unit: bytes, trainer: Trainer) -> Meaning | None:
    lower = name.lower()
    said = unit.decode("utf-8", "replace")
    if lower in trainer.names:
        known = trainer.names[lower]
        counted = meaning_of(said) if known and known.quantity == "work_per_s" and said else None
        return counted if counted and counted.quantity == "work_per_s" else known
    if lower in ELAPSED:
        return Meaning("step_time_s", factor=None)
    if lower in _IN_SECONDS and unit in _FACTORS:
        return Meaning("step_time_s", factor=None)
    found = meaning_of(f"{lower} ({said})" if said else lower) or meaning_of(lower) or _MORE.get(lower)
    if found and found.quantity in ("run", "variant", "rank", "nodes", "clock_s"):
        return None
    return found
