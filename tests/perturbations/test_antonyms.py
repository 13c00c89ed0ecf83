"""The antonyms of verbs that travel with the package."""

import zipfile
from importlib.resources import files

from video_contrast.perturbations.contrast.edit import antonyms, are_antonyms, table


def test_the_shipped_antonyms_are_wordnets_477_pairs_with_their_licence():
    folder = files("video_contrast.perturbations.contrast")
    lines = (folder / "antonyms.tsv").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == 477
    assert "Princeton University" in (folder / "LICENSES.md").read_text(encoding="utf-8")
    assert all(first in table()[second] for first, others in table().items() for second in others)
    assert antonyms("open") == {"close"} and "push" in antonyms("pull") and antonyms("sing") == frozenset()
    assert (
        are_antonyms("check in", "check out")
        and are_antonyms("sit in", "stand")
        and not are_antonyms("sit in", "stand on")
    )


def test_the_shipped_antonyms_are_those_of_wordnets_own_file(whole_wordnet):
    pairs = set()
    with zipfile.ZipFile(whole_wordnet) as archive:
        lines = archive.read("wordnet/data.verb").decode().splitlines()
    synsets = {line.split()[0]: line.split("|")[0].split() for line in lines if not line.startswith(" ")}
    for fields in synsets.values():
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        pointers = fields[5 + 2 * len(words) :]
        for kind, offset, part, places in zip(*(pointers[n::4] for n in range(4)), strict=False):
            if kind == "!" and part == "v":
                other = synsets[offset][4 + 2 * (int(places[2:], 16) - 1)]
                pairs.add(
                    frozenset(
                        (words[int(places[:2], 16) - 1].lower().replace("_", " "), other.lower().replace("_", " "))
                    )
                )
    assert pairs == {frozenset((verb, other)) for verb, others in table().items() for other in others}
