"""The packed senses of WordNet against its own files and NLTK's reader of them.

    python tests/perturbations/test_wordnet.py WORDNET_ZIP

writes the table anew.
"""

import lzma
import re
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

from video_contrast.perturbations.english import wordnet

TABLE = files("video_contrast.perturbations.english.lexicon") / "wordnet.xz"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
SMALL = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}


def table_of(path: Path) -> str:
    """The senses of WordNet's release as the package ships them, sorted."""
    with zipfile.ZipFile(path) as archive:
        names = ["index.sense", *(f"{kind}.{name}" for kind in ("index", "data") for name in FILES.values())]
        of = {name: archive.read(f"wordnet/{name}").decode("ascii").splitlines() for name in names}
    counts = {}
    for key, offset, _, count in map(str.split, of["index.sense"]):
        word, _, rest = key.partition("%")
        counts["nvara"[int(rest[0]) - 1], int(offset), word] = int(count)
    rows = []
    for part, name in FILES.items():
        ranks = {}
        for fields in (line.split() for line in of[f"index.{name}"] if line[0] != " "):
            ranks |= {(fields[0], int(at)): str(n) for n, at in enumerate(fields[-int(fields[2]) :], 1)}
        for line in of[f"data.{name}"]:
            fields = line.partition(" | ")[0].split()
            if line[0] == " ":  # the licence at the top
                continue
            offset, row = int(fields[0]), [part]
            for n in range(int(fields[3], 16)):
                word = fields[4 + 2 * n].partition("(")[0]  # "(p)" marks where an adjective stands
                if re.fullmatch(r"[A-Za-z'-]+", word):
                    rank, count = ranks[word.lower(), offset], counts[part, offset, word.lower()]
                    row.append(word + (rank if rank != "1" or count else "") + (f":{count}" if count else ""))
            rows += [" ".join(row)] if len(row) > 1 else []
    return "\n".join(sorted(rows)) + "\n"


def test_the_shipped_senses_are_those_of_wordnets_own_files(whole_wordnet):
    assert lzma.decompress(TABLE.read_bytes()).decode() == table_of(whole_wordnet)


def test_it_is_small_and_travels_with_its_licence():
    assert len(TABLE.read_bytes()) < 500_000
    assert "Princeton University" in (TABLE.parent / "LICENSES.md").read_text(encoding="utf-8")


def test_senses_are_those_that_nltk_reads_in_its_order(nltk_data, monkeypatch):
    import nltk
    from nltk.corpus import LazyCorpusLoader
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    monkeypatch.setattr(WordNetCorpusReader, "map_wn", lambda self, version="wordnet": None)
    monkeypatch.setattr(nltk.data, "path", [str(nltk_data)])
    reader = LazyCorpusLoader("wordnet", WordNetCorpusReader, object())
    compared = 0
    for part in wordnet.PARTS:
        for lemma in {name for name in reader.all_lemma_names(part) if re.fullmatch(r"[a-z'-]+", name)}:
            senses = [sense.lemma_names() for sense in dict.fromkeys(reader.synsets(lemma, part))]
            senses = [names for names in senses if lemma in map(str.lower, names)]  # those of a base form left out
            found = iter(sense.words for sense in wordnet.senses(lemma, part))  # the folder may lack some
            for names in senses:
                assert tuple(name for name in names if re.fullmatch(r"[A-Za-z'-]+", name)) in found, (lemma, part)
            compared += len(senses)
    assert compared > 1000


def test_it_knows_parts_of_speech_and_senses():
    assert {part for part in wordnet.PARTS if wordnet.senses("run", part)} == {"n", "v"}
    assert not any(wordnet.senses("xqzzt", part) for part in wordnet.PARTS)
    assert wordnet.senses("car", "n")[0].words == ("car", "auto", "automobile", "machine", "motorcar")
    assert any("manage" in sense.words for sense in wordnet.senses("do", "v"))
    several = wordnet.several_parts("a")
    assert "anodyne" in several and "output" in wordnet.several_parts("n")
    assert all(any(wordnet.senses(word, part) for part in "nvr") for word in several)


if __name__ == "__main__":
    Path(str(TABLE)).write_bytes(lzma.compress(table_of(Path(sys.argv[1])).encode(), filters=[SMALL]))
