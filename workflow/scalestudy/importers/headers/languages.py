"""Words of other languages in headers, as their English terms."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = {
    "gpus per node": r"(?:单|每)(?:台|个)?(?:机器|机|节点|服务器)(?:的)?(?:gpu|显卡|卡)(?:数量|个数|数)?",
    "configuration": r"配置(?:名称|方案)?|構成|设置",
    "strategy": r"(?:训练|并行|分布式)?策略",
    "per gpu batch": r"(?:单|每)(?:张|块)?(?:gpu|显卡|卡) ?(?:batch(?: ?size)?|bs|批(?:次)?(?:大小|量)?)",
    "per gpu": r"(?:单|每)(?:张|块)?(?:gpu|显卡|卡)(?= ?(?:吞|速|样本))",
    "gpus": r"gpu-k(?: sz[aá]ma)?|(?:n[uă]m[aă]r(?:ul)? de )?gpu-uri|số (?:lượng )?gpu|jumlah gpu|"
    r"(?:gpu|显|加速)?卡数量?|gpu ?(?:卡数|个数|数目|数量|台数|枚数|기수|개수|수|数)|设备数量?|"
    r"台数|总gpu数?|nombre de gpu|n[uú]mero de gpus?|numero (?:di )?gpus?|anzahl (?:der )?gpus?|"
    r"(?:число|количество|кол-во) gpu|liczba gpu|gpu say[ıi]s[ıi]|aantal gpu'?s?",
    "global batch size": r"(?:有效|总|全局)(?:batch(?:[ _]?size)?|批大小|批次大小)",
    "replicas": r"副本数?",
    "used": r"(?:指定|使用|利用|実行)(?:した)?(?=スレッド|プロセス|コア|线程|进程|核)",
    "program": r"程序|プログラム|프로그램",
    "wall time": r"墙钟(?:时间)?",
    "per thread ": r"每个?线程的?",
    "nodes": r"số (?:nút|máy)|jumlah node|"
    r"节点(?:数量|数)?|机器(?:数量|数)|ノード数|노드 ?수|nodos|knoten|n[œo]euds?|узлы|число узлов|"
    r"nodi|knooppunten|w[eę]z[lł](?:y|[oó]w)|uzl(?:y|ů)|noder|csom[oó]pontok|noduri|вузл(?:и|ів)|"
    r"κ[οό]μβ(?:οι|ων)",
    "single step ": r"单步|每步",
    "training time": r"训练(?:总)?(?:时间|用时|耗时|时长)|学習時間|학습 ?시간",
    "gradient accumulation steps": r"梯度累[积加](?:步数|次数)?|勾配累積(?:ステップ数?)?",
    "improvement": r"(?<![^\W_])提升(?:倍数|幅度)?(?![^\W_])",
    "samples/s": r"每秒(?:处理)?(?:样本|图像|图片)数?",
    "tokens/s": r"每秒(?:处理)?(?:令牌|词元|token)数?",
    "tokens": r"토큰|トークン(?:数)?|令牌数?|词元数?",
    "images": r"이미지|画像|图像(?:数)?(?= ?/)|图片(?= ?/)|im[aá]genes(?= ?/)|bilder(?= ?/)",
    "samples": r"샘플|サンプル|样本(?= ?/)|muestras(?= ?/)|amostras(?= ?/)",
    "efficiency": r"hiệu (?:suất|quả|năng)(?: song song| mở rộng)?|tỷ lệ mở rộng|efisiensi|"
    r"(?:并行|扩展|加速|缩放|線形|線性|线性)*(?:效率|加速度比率)|线性度|線形性|並列化?効率|効率|"
    r"효율(?:성)?|eficiencia|efici[eê]ncia|effizienz|efficacit[eé]|efficienza|эффективность|verimlilik|"
    r"efektywno[sś][cć]|effici[eë]ntie|ефективність|αποδοτικ[οό]τητα|efektivita|[uú][cč]innos[tť]|effektivitet|hat[eé]konys[aá]g|eficien[tț][aă]",
    "speedup": r"(?:hệ số |độ |mức )?tăng tốc|percepatan|"
    r"(?:线性)?加速比|加速倍数|加速|提速|速度向上(?:率|比)?|高速化(?:率)?|スピードアップ|"
    r"속도 ?향상(?:률)?|배속|가속(?:비|률)?|aceleraci[oó]n|acelera[cç][aã]o|ganho|accelerazione|h[ıi]zlanma|"
    r"versnelling|beschleunigung|acc[eé]l[eé]ration|ускорение|przy[sś]pieszenie|zr[yý]chlen[ií]e?|gyors(?:ul|[ií]t)[aá]s|"
    r"uppsnabbning|accelerare|прискорення|επιτ[αά]χυνση",
    "throughput": r"thông lượng|tốc độ|"
    r"(?:训练)?吞吐(?:率|量)?|スループット|처리량|(?:训练|处理|処理|学習)?速度|속도|"
    r"geschwindigkeit|d[eé]bit|rendimiento|vaz[aã]o|durchsatz|пропускная способность|скорость|пропускна здатність|"
    r"przepustowo[sś][cć]|propustnost|genomstr[oö]mning|[aá]tereszt[oő]k[eé]pess[eé]g|doorvoer",
    "performance": r"(?:训练)?性能(?!提|下|损|对|比|指|分)|성능(?! ?향상)",
    "epoch": r"epoche|[eé]poca|[eé]poque|эпох[аиу]|エポック|에포크|轮次",
    "time": r"^час(?: (?:виконання|роботи|обчислен\w+))?(?![\w.])|"
    r"(?:doba|čas) (?:b[eě]hu|v[yý]po[cč]tu)|čas|czas (?:wykonania|oblicze[nń]|dzia[lł]ania)|"
    r"(?:loop|reken|uitvoerings?|trainings?)tijd|(?:k[oö]r|exekverings|ber[aä]knings|tr[aä]nings)tid|"
    r"(?:kørsels|køre|beregnings|udførelses|trænings)tid|tidsforbrug|tid(?= ?[(\[,] ?(?:s|ms|sek\w*|min|h)\b)|"
    r"(?:fut[aá]si |fut[aá]s)?idő|timp(?:ul)?(?: de (?:execu[tțţ]ie|rulare|calcul))?|"
    r"χρ[οό]νος(?: (?:εκτ[εέ]λεσης|εκπα[ιί]δευσης))?|thời gian(?: chạy| huấn luyện)?|waktu(?: eksekusi)?|"
    r"(?:训练|学習|运行|总)?(?:时间|時間|耗时|用时|时长)|所要時間|(?:학습 ?)?시간|"
    r"tiempos?|tempos?|[a-zäöüß]*zeit(?:en)?|temps|czas|dauer|время|s[üu]re|tijd|duraci[oó]n|dura[cç][aã]o|dur[eé]e|durata",
    "model size": r"模型(?:大小|规模|尺寸|参数量?)",
    "batch size": r"批(?:次)?(?:大小|量)?|tama[nñ]o de lote|batchgr[oö][sß]e",
    "model": r"模型(?:架构|名称)?|modelo|modell|mod[eè]le",
    "threads": r"n[uă]m[aă]r(?:ul)? de fire(?: de execu[tțţ]ie)?|fire de execu[tțţ]ie|tråd(?:ar|e|er)|"
    r"sz[aá]lak(?: sz[aá]ma)?|потоків|ν[ηή]μ(?:ατα|[αά]των)|i\u0307?ş parçacığı(?: say[ıi]s[ıi])?|"
    r"(?:số )?luồng|jumlah thread|utas|hilos?|f[aä]den|w[aą]t(?:ki|k[oó]w)|vl[aá]k(?:na|en)|"
    r"(?:число |количество |кол-во )?поток(?:и|ов|а)?|线程数?|スレッド数?|스레드 ?수?",
    "processes": r"processi|processen|processer|proces[uů]|folyamatok(?: sz[aá]ma)?|procese|процес(?:и|ів)|"
    r"διεργασ(?:[ιί]ες|ι[ωώ]ν)|(?:số )?tiến trình|jumlah proses|"
    r"procesos?|processos?|prozess(?:en?)?|processus|proces(?:y|ów)|"
    r"进程数?|プロセス数?|프로세스 ?수?|(?:число |количество |кол-во )?(?:процесс|ранг)(?:ы|и|ов|а)?",
    "processors": r"procesor(?:y|[oó]w|[uů])|processorer|processzorok(?: sz[aá]ma)?|procesoare|процесор(?:и|ів)|"
    r"επεξεργαστ(?:[εέ]ς|[ωώ]ν)|procesadores|processadores|processatori|prozessoren|processeurs|"
    r"(?:число |количество )?процессор(?:ов|ы)",
    "workers": r"trabajador(?:es)?|trabalhador(?:es)?",
    "cores": r"rdzeni(?:e)?|j[aá]d(?:ra|er)|k[aä]rnor|kerner|kernen|magok(?: sz[aá]ma)?|nuclee|"
    r"πυρ[ηή]ν(?:ες|ων)|çekirdek(?: say[ıi]s[ıi])?|"
    r"số (?:nhân|lõi)|jumlah core|n[uú]cleos?|kerne?|c[oœ]e?urs?|コア数?|코어 ?수?|核心?数|"
    r"(?:число |количество |кол-во )?яд(?:ро|ра|ер)",
    "ms": r"毫秒|(?<=[(\[, ])мс",
    "step": r"(?<=/)步|(?<=/ )步",
    "seconds": r"(?<=/)(?:sek|seg)\.?|(?<=/ )(?:sek|seg)\.?|"
    r"giây|detik|segundos|sekunden|secondes|secondi|сек(?:унд[аыи]?)?|"
    r"sekund[yaåe]?r?|secunde|δευτ(?:ερ[οό]λεπτα)?|saniye|(?<=\()sn(?=\))|(?<=\()с(?=\))|(?<=, )с$|秒|초",
    "minutes": r"phút|menit|minuten|minutos|minuti|мин(?:ут[аы]?)?|分钟|分(?=\))|분",
    "hours": r"giờ|jam(?=\))|stunden|heures|horas|час(?:ов|а|ы)?|小时|시간(?=\))",
    "parallel": r"parall[eè]le|paralelo|parallelo|parallel(?:isiert)?|параллельн\w*|并行|並列|병렬",
    "ratio": r"raz[aã]o|raz[oó]n",
    "precision": r"精度",
    "mfu": r"%?\s*(?:理论)?峰值(?:算力|性能)(?:占比|利用率|百分比)?",
    "memory": r"显存|内存|メモリ|메모리",
    "relative to ": r"相对(?:于)?",
    "ideal ": r"理想(?:线性)?",
    "number of ": r"nombre (?:de|des|d['\u2019])|n[uú]mero (?:de|di)|n[º°](?: de)?|quantidade de|cantidad de|"
    r"numero(?= +(?:process|thread|core|node|gpu))|n[uă]m[aă]r(?:ul)? de|"
    r"anzahl(?: der| an)?|liczba|po[cč]et|aa?ntal|количество|кол-во|кількість|αριθμ[οό]ς|число",
    "single": r"单(?:机单)?(?=卡)",
}
_SIMPLIFIED = str.maketrans(
    "\u8a13\u7df4\u6642\u9593\u64f4\u7e2e\u7dda\u55ae\u96d9\u5f35\u584a\u6a5f\u7bc0\u9ede\u6578\u8655\u6a23\u5716\u8f2a\u8a2d\u5099\u9032\u986f\u500b\u7e3d\u55ae\u6e2c\u8a66",
    "\u8bad\u7ec3\u65f6\u95f4\u6269\u7f29\u7ebf\u5355\u53cc\u5f20\u5757\u673a\u8282\u70b9\u6570\u5904\u6837\u56fe\u8f6e\u8bbe\u5907\u8fdb\u663e\u4e2a\u603b\u5355\u6d4b\u8bd5",
)
"""Traditional characters as simplified ones."""
_LETTER = r"[a-z\u00df-\u024f\u0370-\u03ff\u0400-\u04ff]"
"""A letter that would be of the same word: Latin, Greek or Cyrillic. Chinese has no spaces between words."""
_PATTERNS = [
    (re.compile(rf"(?<!{_LETTER})(?:{words.translate(_SIMPLIFIED)})(?!{_LETTER})"), term)
    for term, words in _WORDS.items()
]


def simplified(text: str) -> str:
    """Return a text with traditional Chinese characters as simplified ones."""
    return text if text.isascii() else text.translate(_SIMPLIFIED)


@lru_cache(maxsize=8192)
def in_english(text: str) -> str:
    """Return a header in lower case with the words that are known here in English."""
    text = simplified(text)
    if text.isascii() and not _MAY_BE_FOREIGN.search(text):
        return text
    for pattern, term in _PATTERNS:
        text = pattern.sub(f" {term} ", text)
    return " ".join(text.split())


_MAY_BE_FOREIGN = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _PATTERNS))
