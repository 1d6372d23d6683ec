"""Numbers of devices in words and in Chinese and Japanese, as digits: `two nodes`, `四卡`, `单线程`."""

from __future__ import annotations

import re

from scalestudy.importers.headers.languages import simplified
from scalestudy.importers.headers.terms import DEVICE, HARDWARE, KIND, MAKER, NODE

NUMBERS = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6},
    **{"dual": 2, "double": 2, "triple": 3, "quad": 4},
    **{"eight": 8, "octa": 8, "ten": 10, "twelve": 12, "sixteen": 16, "twenty-four": 24, "twenty": 20},
    **{"thirty-two": 32, "forty-eight": 48, "forty": 40, "sixty-four": 64},
    **{"un": 1, "una": 1, "une": 1, "uno": 1, "um": 1, "uma": 1, "ein": 1, "eine": 1, "einer": 1, "einem": 1},
    **{"dos": 2, "deux": 2, "zwei": 2, "due": 2, "dois": 2, "duas": 2, "tres": 3, "trois": 3, "drei": 3},
    **{"cuatro": 4, "quatre": 4, "vier": 4, "quattro": 4, "quatro": 4},
    **{"ocho": 8, "huit": 8, "acht": 8, "otto": 8, "oito": 8, "dieciséis": 16, "seize": 16, "sechzehn": 16},
}
"""English numbers first; then Spanish, French, German, Italian and Portuguese ones."""
WORDS = "|".join(NUMBERS)
_TENS = re.compile(r"\b(twenty|thirty|forty|sixty) (four|two|eight)\b", re.IGNORECASE)
_NODES_IN_WORDS = re.compile(
    rf"\b({WORDS})(?=[ -]{NODE},? (?:with |of )?\d+ ?x? ?-?(?:{DEVICE}|{HARDWARE}s?) ?"
    r"(?:each|/ ?node|per node))",
    re.IGNORECASE,
)
"""The number of nodes in front of the devices of each: `two nodes with 4 GPUs each`."""
_IN_WORDS = re.compile(rf"\b({WORDS})(?=[ -](?:{DEVICE}|{NODE})\b)", re.IGNORECASE)
"""A number of devices or of nodes in words: `two nodes`."""
_HAN = {"单": "1", "単": "1", "一": "1", "双": "2", "两": "2", "二": "2", "四": "4", "八": "8", "十六": "16"}
_NOUN_OF_A_KIND = re.compile(
    rf"(?<![\w.])(?!np|ws|[dtpc]p|x\d)({MAKER}*{KIND}) ?-?"
    r"(?:(?:gpus?|cards?|devices?|accelerators?|chips?|npus?)\b|\u5361)",
    re.IGNORECASE,
)
"""A kind of device with a noun behind it: `A100 GPUs`. The number in its name is not a number of devices."""
_NOUNS = {"线程": "threads", "进程": "processes", "核": "cores", "核心": "cores"}
_PARTS = re.compile(rf"(?<![\w.])(\d{{1,6}}|{'|'.join(_HAN)}) ?个?(线程|进程|核心|核)(?!数)")
_CARDS = re.compile(
    rf"(?<![A-Za-z\d.一二三四五六七八九十])(\d{{1,6}}|{'|'.join(_HAN)}) ?(?:\u5f20|\u5757|\u4e2a)?"
    r"(?:(?:gpu|\u663e)?\u5361|gpu(?![a-z0-9_]))",
    re.IGNORECASE,
)
_NODES_OF_CARDS = re.compile(
    rf"(?<![\w.])(\d{{1,6}}|{'|'.join(_HAN)}) ?(?:机|节点) ?"
    rf"(\d{{1,6}}|{'|'.join(_HAN)}) ?(?:张|块)?(?:gpu)?(?:卡|显卡) ?",
    re.IGNORECASE,
)
"""Nodes and the devices of each in front of other words: `2机8卡耗时`."""
_WITH_A_PRODUCT = re.compile(
    rf"^(?P<kind>{MAKER}*{KIND})? ?(?:\d{{1,4}}|{'|'.join(_HAN)})\u673a(?:\d{{1,5}}|{'|'.join(_HAN)})\u5361 ?"
    r"[(\uff08](?P<product>\d{1,4} ?x ?\d{1,4})[)\uff09]$",
    re.IGNORECASE,
)
"""Nodes and devices of a kind with their product behind: `A100两机8卡（2x8）`."""
_COUNTED = re.compile(
    rf"(?:(?P<nodes>\d{{1,6}}|{'|'.join(_HAN)}) ?(?:机|节点|個?ノード|노드))?"
    rf"(?:(?P<gpus>\d{{1,6}}|{'|'.join(_HAN)}) ?(?:张|块|块)?(?:gpu)?(?:卡|显卡|台|枚|基|体|개|장|대))?"
)


def figure_of(count: str) -> int:
    """Return a number of devices in figures or words: `4`, `four`, `single`; 1 of an unknown word."""
    return int(count) if count.isdecimal() else NUMBERS.get(count.lower(), 1)


def spelled(words: str) -> str:
    """A cell or label with numbers of devices and nodes as digits: 2 nodes, 8 GPUs, of `two nodes, eight GPUs`."""
    words = _TENS.sub(r"\1-\2", words)
    return _IN_WORDS.sub(lambda found: str(NUMBERS[found[1].lower()]), words).replace("(s)", "s")


def in_digits(words: str) -> str:
    """Chinese and Japanese counts in our own words, 2 nodes 16 gpus; kinds of devices without a noun behind."""
    words = _WITH_A_PRODUCT.sub(r"\g<product> \g<kind>", words)
    words = _NODES_IN_WORDS.sub(lambda found: str(NUMBERS[found[1].lower()]), simplified(words))
    words = _NOUN_OF_A_KIND.sub(lambda found: found[1], words)
    if words.isascii() or not (found := _COUNTED.fullmatch(words)):
        words = _NODES_OF_CARDS.sub(
            lambda one: f"{_HAN.get(one[1], one[1])} nodes {_HAN.get(one[2], one[2])} gpus ", words
        )
        words = " ".join(_CARDS.sub(lambda one: f" {_HAN.get(one[1], one[1])} gpus ", words).split())
        words = _PARTS.sub(lambda one: f"{_HAN.get(one[1], one[1])} {_NOUNS[one[2]]}", words)
        return words.replace("( ", "(").replace(" )", ")")
    nodes, gpus = (_HAN.get(found[name] or "", found[name]) for name in ("nodes", "gpus"))
    return f"{nodes} nodes {gpus} gpus" if nodes and gpus else f"{gpus} gpus" if gpus else f"{nodes} nodes"
