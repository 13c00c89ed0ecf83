"""HanTa's English model: the tagger that works offline, since its data lies in its wheel (LGPL-3, unmodified)."""

from functools import lru_cache
from importlib.metadata import version

from video_contrast.untyped import TorchModel

# BNC C5 -> Penn. Base forms (VVB, VBB ...) become VB or VBP by the words around them.
C5_TO_PENN = {
    "AJ0": "JJ", "AJC": "JJR", "AJS": "JJS", "AT0": "DT", "AV0": "RB", "AVP": "RP", "AVQ": "WRB", "CJC": "CC",
    "CJS": "IN", "CJT": "IN", "CRD": "CD", "DPS": "PRP$", "DT0": "DT", "DTQ": "WDT", "EX0": "EX", "IN": "IN",
    "ITJ": "UH", "NN0": "NN", "NN1": "NN", "NN2": "NNS", "NN": "NN", "NP0": "NNP", "ORD": "JJ", "PNI": "NN",
    "PNP": "PRP", "PNQ": "WP", "PNX": "PRP", "POS": "POS", "PRF": "IN", "PRP": "IN", "PUL": "-LRB-", "PUN": ",",
    "PUQ": "''", "PUR": "-RRB-", "TO0": "TO", "UNC": "NN", "VM0": "MD", "XX0": "RB", "ZZ0": "NN",
    "VBB": "VBP", "VBD": "VBD", "VBG": "VBG", "VBI": "VB", "VBN": "VBN", "VBZ": "VBZ",
    "VDB": "VBP", "VDD": "VBD", "VDG": "VBG", "VDI": "VB", "VDN": "VBN", "VDZ": "VBZ",
    "VHB": "VBP", "VHD": "VBD", "VHG": "VBG", "VHI": "VB", "VHN": "VBN", "VHZ": "VBZ",
    "VVB": "VBP", "VVD": "VBD", "VVG": "VBG", "VVI": "VB", "VVN": "VBN", "VVZ": "VBZ",
}  # fmt: skip
_LONGEST = 24  # analysing an unknown word costs the square of its length; the ending is what tells its class
_CACHED_WORDS = 1 << 16


class HantaTagger:
    """`tag(words of many captions) -> Penn tags`; a known word costs nothing, an unknown one is analysed once."""

    def __init__(self) -> None:
        from HanTa import HanoverTagger

        self._model: TorchModel = HanoverTagger.HanoverTagger("morphmodel_en.pgz")
        self._model.analyze_forward = lru_cache(_CACHED_WORDS)(self._model.analyze_forward)
        self.name = f"hanta-{version('HanTa')}"

    def tag(self, captions: list[list[str]]) -> list[list[str]]:
        """Penn tags of the words of each caption."""
        return [self._tag(words) for words in captions]

    def _tag(self, words: list[str]) -> list[str]:
        if not words:
            return []
        plain = _plain(words)
        try:
            codes = self._model.tag_sent(plain, taglevel=0)
        except (KeyError, ValueError, IndexError):  # no path through its tables, as for some scripts
            codes = [self._alone(word) for word in plain]
        tags = [""]
        for word, code in zip(words, codes, strict=True):
            tags.append(_settle(word, C5_TO_PENN.get(code, "NN"), tags[-1]))
        return tags[1:]

    def _alone(self, word: str) -> str:
        try:
            tags = self._model.tag_word(word)
        except (KeyError, ValueError, IndexError):
            return "UNC"
        return tags[0][0] if tags else "UNC"


def _plain(words: list[str]) -> list[str]:
    """What the model reads: headline capitals are no names, and only the end of a monstrous word matters."""
    letters = [word for word in words if word[0].isalpha()]
    shouting = len(letters) > 2 and all(word[0].isupper() for word in letters)
    return [(word.lower() if shouting else word)[-_LONGEST:] for word in words]


def _settle(word: str, tag: str, before: str) -> str:
    """What the word itself or the tag before it decides."""
    if word.lower() == "to":
        return "TO"
    if not any(character.isalnum() for character in word):
        return "." if word in ".!?" else tag if tag in ("''", "-LRB-", "-RRB-", "POS") else ","
    if word[0].isdigit():
        return "CD"
    if tag == "VBP" and before in ("", "TO", "MD"):  # an imperative, an infinitive
        return "VB"
    return tag
