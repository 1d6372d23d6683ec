"""Words of other languages in headers, as their English terms."""

from __future__ import annotations

import re

_WORDS = {
    "gpus": r"(?:gpu|显)?卡数量?|gpu ?(?:个数|数目|数量|数)|设备数量?|进程数|线程数|"
    r"nombre de gpu|n[uú]mero de gpus?|anzahl (?:der )?gpus?",
    "nodes": r"节点数?|机器数|nodos|knoten|n[œo]euds?",
    "throughput": r"(?:训练)?吞吐(?:率|量)?|(?:训练|处理)?速度|"
    r"geschwindigkeit|d[eé]bit|rendimiento|vaz[aã]o|durchsatz",
    "time": r"(?:训练)?(?:时间|耗时|用时)|tiempo|tempo|zeit|temps|czas|dauer|время",
    "speedup": r"加速比|加速|aceleraci[oó]n|acelera[cç][aã]o|"
    r"beschleunigung|acc[eé]l[eé]ration|ускорение|przyspieszenie",
    "efficiency": r"(?:并行|扩展)?效率|eficiencia|efici[eê]ncia|effizienz|efficacit[eé]|efficienza|эффективность",
    "batch size": r"批(?:次)?(?:大小|量)?|tama[nñ]o de lote|batchgr[oö][sß]e",
    "model": r"模型|modelo|modell|mod[eè]le",
    "threads": r"hilos|f[aä]den|потоки|w[aą]tki",
    "processes": r"procesos|processos|prozesse|processus|процессы|procesy",
    "cores": r"n[uú]cleos|kerne|c[oœ]e?urs|ядра",
    "seconds": r"segundos|sekunden|secondes|秒",
    "precision": r"精度",
    "single": r"单(?:机单)?(?=卡)",
}
_PATTERNS = [(re.compile(rf"(?<![a-z])(?:{words})(?![a-z])"), term) for term, words in _WORDS.items()]


def in_english(text: str) -> str:
    """Return a header in lower case with the words that are known here in English."""
    if text.isascii() and not _MAY_BE_FOREIGN.search(text):
        return text
    for pattern, term in _PATTERNS:
        text = pattern.sub(f" {term} ", text)
    return " ".join(text.split())


_MAY_BE_FOREIGN = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _PATTERNS))
