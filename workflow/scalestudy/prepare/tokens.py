"""Converts texts to tokens: the most common lower-case words and punctuation marks of the training part.

A vocabulary of words needs no download and is built in seconds. For the scaling of training only the length of a
sample and the size of the vocabulary matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.prepare.store import Samples, TextFacts, text_sha256

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PADDING, UNKNOWN = 0, 1
# No word of a text can equal one of these: a bracket is a token by itself.
_SPECIAL = ["[PAD]", "[UNK]"]
_CHUNK = 1000


def require_tokenizers() -> Any:
    """Return the tokenizers library, or raise UserError with the command to install it, before any download."""
    try:
        import tokenizers
    except ImportError:
        raise UserError("texts need the tokenizers library: pip install 'scalestudy[text]'") from None
    return tokenizers


def encode(
    parts: dict[str, Samples[list[str]]], *, vocabulary: int, sequence_length: int
) -> tuple[dict[str, Samples[np.ndarray]], str, TextFacts]:
    """Encode every text as `sequence_length` tokens, truncated or padded with 0 at its end.

    Returns (the encoded parts; the tokeniser as JSON, with which the library can decode tokens; facts on what was
    lost).
    """
    tokenizer = _train(parts["train"].inputs, vocabulary)
    encoded, cut, texts = {}, 0, 0
    for part, samples in parts.items():
        inputs, cut_here = _encode(tokenizer, samples.inputs, sequence_length)
        encoded[part] = Samples(inputs, samples.targets)
        cut, texts = cut + cut_here, texts + len(samples)
    seen, content = encoded["validation"].inputs, tokenizer.to_str()
    facts = TextFacts(
        vocabulary=tokenizer.get_vocab_size(),
        validation_unknown_share=float((seen == UNKNOWN).sum() / (seen != PADDING).sum()),
        cut_share=cut / texts,
        tokenizer_sha256=text_sha256(content),
    )
    return encoded, content, facts


def _train(texts: list[str], vocabulary: int) -> Tokenizer:
    """Return a tokeniser with the most common words; equally common words are in alphabetical order."""
    library = require_tokenizers()
    trained = _tokenizer({})
    trainer = library.trainers.WordLevelTrainer(
        vocab_size=vocabulary, special_tokens=_SPECIAL, show_progress=False
    )
    trained.train_from_iterator(texts, trainer)
    # After training, special tokens are recognised in texts: `[PAD]` in a text would become padding in its middle.
    # A tokeniser built only from the vocabulary treats it as a word in brackets.
    return _tokenizer(trained.get_vocab())


def _tokenizer(words: dict[str, int]) -> Tokenizer:
    library = require_tokenizers()
    tokenizer: Tokenizer = library.Tokenizer(library.models.WordLevel(vocab=words, unk_token=_SPECIAL[UNKNOWN]))
    tokenizer.normalizer = library.normalizers.Lowercase()
    tokenizer.pre_tokenizer = library.pre_tokenizers.Sequence(
        [library.pre_tokenizers.WhitespaceSplit(), library.pre_tokenizers.Punctuation()]
    )
    return tokenizer


def _encode(tokenizer: Tokenizer, texts: list[str], length: int) -> tuple[np.ndarray, int]:
    """Return the tokens, and the number of truncated texts."""
    tokens, cut = np.full((len(texts), length), PADDING, dtype=np.int32), 0
    for start in range(0, len(texts), _CHUNK):
        encodings = tokenizer.encode_batch_fast(texts[start : start + _CHUNK], add_special_tokens=False)
        for row, encoding in enumerate(encodings, start):
            cut += len(encoding.ids) > length
            # A text without a word would consist of padding only, which has no mean.
            kept = encoding.ids[:length] or [UNKNOWN]
            tokens[row, : len(kept)] = kept
    return tokens, cut
