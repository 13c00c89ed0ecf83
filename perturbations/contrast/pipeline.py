"""Propose, then accept: the contrasts of many captions, with every rejection counted by its reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

from video_contrast.errors import UsageError
from video_contrast.files import JsonObject
from video_contrast.options import GivenOptions
from video_contrast.perturbations.contrast.antonyms import are_antonyms
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints import (
    Constraint,
    check_options,
    constraint_names,
    make_constraint,
)
from video_contrast.perturbations.contrast.edit import Edit
from video_contrast.perturbations.contrast.generators import CaptionGenerator, check_generator, make_generator
from video_contrast.perturbations.contrast.phrases import choose
from video_contrast.perturbations.contrast.target import VERB, Target, words_used
from video_contrast.perturbations.english import PARSER, parse
from video_contrast.seeds import Streams

VERSION = "1"
_ROUND = 2_000  # captions whose candidates are in memory at a time
Outcome = tuple[list[Edit | None], Counter[str]]
OnReject = Callable[[Original, Candidate, str, float | None], None]  # with the constraint's name and score


class Pipeline:
    """A generator and its constraints, ready to run on any number of captions.

    Args:
        generator: a name of `GENERATORS`, or an object like `generators.base.CaptionGenerator`.
        constraints: names in any order; None for the generator's default set.
        target: what is replaced: `target.VERB` or `object.OBJECT`.
        seed: of every choice.
        num_proc: processes that share the parsing.
        generator_options: arguments of the generator, e.g. {"model": "t5-base", "k": 50}.
        options: thresholds, models and files of the constraints: the fields of their classes, and `device`.
        on_reject: told of every candidate that a constraint rejects.

    Raises:
        UsageError: an unknown name, or something that was asked for and not given.
        VideoContrastError: a model or file is absent.
    """

    def __init__(
        self,
        generator: str | CaptionGenerator,
        constraints: Iterable[str] | None = None,
        *,
        target: Target = VERB,
        seed: int = 0,
        num_proc: int = 1,
        generator_options: GivenOptions | None = None,
        options: GivenOptions | None = None,
        on_reject: OnReject | None = None,
    ) -> None:
        options = options or {}
        check_options(options)
        if isinstance(generator, str):
            check_generator(generator, target)
        name = generator if isinstance(generator, str) else generator.name
        self.target = target
        self.names = constraint_names(name, constraints, target=target.name)
        self.constraints: list[Constraint] = [make_constraint(each, options) for each in self.names]
        if isinstance(generator, str):
            device = options.get("device", "auto")
            generator = make_generator(generator, target, device=device, options=generator_options or {})
        self.generator = generator
        self._seed, self._num_proc = seed, num_proc
        self._on_reject = on_reject

    def run(
        self, captions: Sequence[str], ids: Sequence[str], siblings: Sequence[Sequence[str]] | None = None
    ) -> Outcome:
        """Returns one edit or None a caption, and counts.

        Args:
            captions: any texts.
            ids: one unique id a caption; with the seed it names the caption's random stream.
            siblings: for each caption the captions of the same video (its own among them does no harm).

        Returns:
            The edits, and a Counter of the captions by outcome ("edited", "empty", "no_verb", "no_proposal",
            "all_rejected") and of the candidates ("candidates:proposed", "candidates:accepted",
            "candidates:rejected:NAME" for each constraint; a candidate counts for the first that rejects it), and
            "answers:invalid" of a chat model.
        """
        lists, counts = self.run_many(captions, ids, siblings, n=1)
        return [edits[0] if edits else None for edits in lists], counts

    def run_many(
        self, captions: Sequence[str], ids: Sequence[str], siblings: Sequence[Sequence[str]] | None = None, *, n: int
    ) -> tuple[list[list[Edit]], Counter[str]]:
        """Returns up to `n` different edits of the same phrase a caption, the one of `run` first.

        Args:
            captions, ids, siblings: as of `run`.
            n: at least 1.

        Returns:
            One list a caption, and the counts of `run`.

        Raises:
            UsageError: lists of different lengths, or no siblings for the constraint that needs them.
        """
        if len(ids) != len(captions) or (siblings is not None and len(siblings) != len(captions)):
            raise UsageError("captions, ids and siblings must have the same length")
        if siblings is None and "siblings" in self.names:
            raise UsageError(
                "the constraint 'siblings' needs the other captions of each video: give siblings=, "
                f"or ask for constraints without it ({','.join(name for name in self.names if name != 'siblings')})"
            )
        edits: list[list[Edit]] = []
        counts: Counter[str] = Counter({f"candidates:rejected:{name}": 0 for name in self.names})
        for first in range(0, len(captions), _ROUND):
            part = slice(first, first + _ROUND)
            texts = siblings[part] if siblings is not None else None
            edits += self._round(captions[part], ids[part], siblings=texts, counts=counts, n=n)
        return edits, counts

    def record(self) -> JsonObject:
        """Generator, parser, constraints with their thresholds and models, and those that were not applied."""
        return {
            "generator": self.generator.name,
            "version": VERSION,
            "seed": self._seed,
            "parser": PARSER,
            "constraints": {constraint.name: constraint.record() for constraint in self.constraints},
            "not_applied": [name for name in constraint_names(None, target=self.target.name) if name not in self.names],
        }

    def _round(
        self,
        captions: Sequence[str],
        ids: Sequence[str],
        siblings: Sequence[Sequence[str]] | None,
        counts: Counter[str],
        n: int,
    ) -> list[list[Edit]]:
        originals = self._originals(captions, ids, siblings, counts)
        places = [place for place, original in enumerate(originals) if original is not None]
        present = [original for original in originals if original is not None]
        # One generator object a caption: they are alive at the same time.
        randoms = [
            Streams().at(self._seed, self.target.name, VERSION, self.generator.name, ids[place]) for place in places
        ]
        invalid = self._invalid_answers()
        proposals = self.generator.propose(present, randoms)
        if self._invalid_answers() > invalid:
            counts["answers:invalid"] += self._invalid_answers() - invalid
        self._analyse(present, proposals)
        accepted = self._accept(present, proposals, counts)
        edits: list[list[Edit]] = [[] for _ in captions]
        for place, original, proposed, passed, random in zip(
            places, present, proposals, accepted, randoms, strict=True
        ):
            counts["edited" if passed else "all_rejected" if proposed else "no_proposal"] += 1
            if self.generator.draw == "uniform":
                passed = [passed[number] for number in random.permutation(len(passed))]
            edits[place] = [self._edit(original, *accepted_one) for accepted_one in passed[:n]]
        return edits

    def _invalid_answers(self) -> int:
        """Answers so far that a chat model's generator could not read; other generators have none."""
        return int(getattr(self.generator, "invalid", 0))

    def _originals(
        self,
        captions: Sequence[str],
        ids: Sequence[str],
        siblings: Sequence[Sequence[str]] | None,
        counts: Counter[str],
    ) -> list[Original | None]:
        """Each caption with one phrase chosen; None, counted, where there is none."""
        used = self._sibling_words(captions, siblings) if "siblings" in self.names and siblings is not None else None
        streams = Streams()
        originals: list[Original | None] = []
        for place, sentence in enumerate(parse(captions, num_proc=self._num_proc)):
            tokens = sentence.words
            phrases = self.target.find(tokens)
            # "a man shows how he cooks": cooking is what can be false.
            phrases = [phrase for phrase in phrases if self.target.proposable(phrase.lemma)] or phrases
            phrase = choose(phrases, streams.at(self._seed, self.target.name, "phrase", VERSION, ids[place]))
            if phrase is None:
                counts["no_" + self.target.name if captions[place].strip() else "empty"] += 1
                originals.append(None)
                continue
            words = used[place] if used is not None else frozenset()
            originals.append(
                Original(captions[place], tokens, phrase=phrase, own=self.target.lemmas(tokens), sibling_words=words)
            )
        return originals

    def _sibling_words(self, captions: Sequence[str], siblings: Sequence[Sequence[str]]) -> list[frozenset[str]]:
        unique = list(dict.fromkeys(text for texts in siblings for text in texts))
        parsed = parse(unique, num_proc=self._num_proc)
        words = {text: words_used(sentence.words) for text, sentence in zip(unique, parsed, strict=True)}
        return [
            frozenset().union(*(words[text] for text in texts if text != caption))
            for caption, texts in zip(captions, siblings, strict=True)
        ]

    def _analyse(self, originals: list[Original], proposals: list[list[Candidate]]) -> None:
        """Fills in lemmas, tags and the antonym flag of candidates whose generator does not know them."""
        unknown = [
            (original, candidate)
            for original, proposed in zip(originals, proposals, strict=True)
            for candidate in proposed
            if candidate.lemmas is None
        ]
        parsed = parse([candidate.text for _, candidate in unknown], num_proc=self._num_proc)
        for (original, candidate), sentence in zip(unknown, parsed, strict=True):
            words = self.target.within(sentence.words, candidate.start, candidate.start + len(candidate.new))
            candidate.lemmas = tuple(token.lemma for token in words)
            candidate.tag = words[0].tag if words else ""
            if words and self.target.name == "verb":
                _, _, rest = candidate.new.lower().partition(" ")
                candidate.antonym = are_antonyms(original.phrase.base, f"{words[0].lemma} {rest}".strip())

    def _accept(
        self, originals: list[Original], proposals: list[list[Candidate]], counts: Counter[str]
    ) -> list[list[tuple[Candidate, dict[str, float]]]]:
        """Runs the constraints one after the other over all candidates that are still in."""
        alive = [
            (place, candidate, dict[str, float]())
            for place, proposed in enumerate(proposals)
            for candidate in _unique(proposed)
        ]
        counts["candidates:proposed"] += len(alive)
        for constraint in self.constraints:
            if not alive:
                break
            verdicts = constraint.check(
                [originals[place] for place, _, _ in alive], [candidate for _, candidate, _ in alive]
            )
            passed = []
            for (place, candidate, scores), verdict in zip(alive, verdicts, strict=True):
                if verdict.score is not None:
                    scores[constraint.name] = round(verdict.score, 6)
                if verdict.ok:
                    passed.append((place, candidate, scores))
                elif self._on_reject is not None:
                    self._on_reject(originals[place], candidate, constraint.name, verdict.score)
            counts[f"candidates:rejected:{constraint.name}"] += len(alive) - len(passed)
            alive = passed
        counts["candidates:accepted"] += len(alive)
        accepted: list[list[tuple[Candidate, dict[str, float]]]] = [[] for _ in proposals]
        for place, candidate, scores in alive:
            accepted[place].append((candidate, scores))
        return accepted

    def _edit(self, original: Original, candidate: Candidate, scores: dict[str, float]) -> Edit:
        old = original.caption[candidate.start : original.phrase.end]
        return Edit(
            candidate.text,
            old,
            new=candidate.new,
            start=candidate.start,
            generator=self.generator.name,
            antonym=candidate.antonym,
            scores=scores,
        )


def run_pipeline(
    target: Target,
    captions: Sequence[str],
    ids: Sequence[str],
    *,
    siblings: Sequence[Sequence[str]] | None = None,
    **options: Any,  # each of its own type
) -> Outcome:
    """Makes a `Pipeline` and runs it once.

    Args:
        target: as of `Pipeline`.
        captions, ids, siblings: as of `Pipeline.run`.
        options: the other arguments of `Pipeline` (`generator=`, `seed=` ...); what it has no argument for is an
            option of the constraints (`vectors=`, `language_model=`, `frequency_limit=` ...).

    Returns:
        The edits and the counts of `Pipeline.run`.

    Raises:
        UsageError, VideoContrastError: as of `Pipeline`.
    """
    own = signature(Pipeline).parameters
    arguments = {name: value for name, value in options.items() if name in own}
    of_constraints = {name: value for name, value in options.items() if name not in own}
    pipeline = Pipeline(target=target, options=of_constraints, **arguments)
    return pipeline.run(captions, ids, siblings)


def _unique(proposed: list[Candidate]) -> list[Candidate]:
    """The first candidate of each text."""
    return list({candidate.text: candidate for candidate in reversed(proposed)}.values())[::-1]
