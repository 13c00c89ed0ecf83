"""TextStyle (robustness paper, A.2): a negation goes or comes, the tense of verbs changes, a caption becomes
passive; and by sequence-to-sequence checkpoints: formal, casual, and passive where one is named.

Five rewritings are sampled and an adequacy model (a natural-language-inference classifier) chooses the one that
follows best from the caption. Passives are made by rules: of a statement the main clause is turned (subject, verb,
object -> object, is verbed, by subject), and only if every word of the caption has its place in it; imperatives ("add
the onions and stir") become statements ("the onions are added and stirred"). Every other caption stays as it is.
"""

import re

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import article, inflect, is_noun, like_case, replaced_spans, within
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.checkpoints import Given, model_perturbation
from video_contrast.perturbations.text.words import how_many, parsed, pick, rewritten, sample
from video_contrast.seeds import stream
from video_contrast.untyped import Tensor, Tokenizer, TorchModel

_FEWEST_WORDS = 3
_NEGATION = re.compile(r"\b(?:not|never)\b\s*|(?<=\w)n(?:['’]| (?=t\b))t\b", re.IGNORECASE)
_NOBODY = re.compile(r"\bno( one|body|thing|where)\b", re.IGNORECASE)
_DO = re.compile(r"\b(do|does|did)(?:\s+not|n['’ ]t)\s+(\w+)", re.IGNORECASE)
_DO_TAG = {"do": "VBP", "does": "VBZ", "did": "VBD"}
_IRREGULAR = {"won['’ ]t": "will", "can['’ ]t": "can", "cannot": "can", "shan['’ ]t": "shall"}
_QUESTION_WORDS = ("what", "who", "where", "why", "how", "when", "which")


@text_perturbation("reverse_neg", category="TextStyle", origin="natural", version="9", requirements=("parse",))
def reverse_neg(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """A negation is taken out; a caption without one gets "not" at its head verb. Not under 3 words, nor questions."""
    caption = sentence.caption
    if len(caption.split()) < _FEWEST_WORDS:
        return caption
    first, root = sentence.words[0], sentence.root
    asks = first.text in _QUESTION_WORDS and root is not None and sentence.finite(root) is not None
    is_inverted = first.tag in ("MD", "VBZ", "VBP", "VBD") and first.lemma in ("be", "have", "do", "can", "will")
    if caption.rstrip().endswith("?") or asks or (is_inverted and not sentence.orders):
        return caption
    positive = _without_negation(caption)
    positive = positive if positive != caption else _without_no(sentence)
    return positive if positive != caption else rewritten(sentence, _negated(sentence, profile), articles=False)


def _negated(sentence: Sentence, profile: str) -> dict[int, str]:
    """The word that gets "not", and what it becomes."""
    if sentence.orders:
        first = sentence.order_start(sentence.orders[0])
        return {first: f"do not {sentence.words[first].text}"}
    verb = _head_verb(sentence)
    if verb is None:
        return {}
    place = sentence.finite(verb)
    if place is None and sentence.words[verb].tag not in ("VBG", "VBN"):
        return {}
    if place is None:  # "a girl playing the piano", "food being prepared"
        place = next(iter(sentence.auxiliaries(verb)), verb)
        return {place: f"not {sentence.words[place].text}"}
    word = sentence.words[place]
    if word.lemma == "have" and place == verb - 1 and sentence.words[verb].tag == "VBG":  # "has flowing water"
        return {}
    carries_not = ("be", "do", "have") if profile == "released" else ("be",)
    if word.tag == "MD" or word.lemma in carries_not or place != verb:
        is_some = word.lemma == "be" and [w.text for w in sentence.words[place + 1 : place + 2]] == ["some"]
        return {place: f"{word.text} not"} | ({place + 1: "any"} if is_some and profile != "released" else {})
    has_subject = sentence.is_verb_form(place) and sentence.subject(verb) is not None
    return _with_do(sentence, verb) if has_subject else {}


def _with_do(sentence: Sentence, verb: int) -> dict[int, str]:
    """ "plays" as "does not play", "gently plays" as "does not gently play"."""
    word, before = sentence.words[verb], sentence.words[verb - 1]
    do = "did" if word.tag == "VBD" else "do" if word.tag == "VBP" else "does"
    if verb and before.text.endswith("ly") and before.head == verb:
        return {verb - 1: f"{do} not {before.text}", verb: word.lemma}
    clitic = " " if word.text[0] in "'’" else ""
    return {verb: f"{clitic}{do} not {word.lemma}"}


def _head_verb(sentence: Sentence) -> int | None:
    """The verb of the main clause; of a caption that is a noun phrase, the participle that tells what happens."""
    root = sentence.root
    if root is None or sentence.words[root].is_verb:
        return root
    participles = sentence.children_with(root, "acl") if sentence.words[root].is_noun else []
    return next((n for n in participles if sentence.words[n].tag in ("VBG", "VBN")), None)


def _without_no(sentence: Sentence) -> str:
    """The caption with its first "no" before a noun taken out; unchanged without one. "has no hat" is "has a hat"."""
    words = sentence.words
    for place, word in enumerate(words[:-1]):
        noun = words[word.head]
        if word.text == "no" and word.dep == "det" and noun.is_noun:
            is_countable = noun.tag in ("NN", "NNP") and not has_class(noun.lemma, "uncountable")
            after = words[place + 1]
            old, new = sentence.text(place, place + 1), sentence.text(place + 1, place + 2)
            new = like_case(f"{article(new)} {new}" if is_countable else new, old)
            return replaced_spans(sentence.caption, [(word.start, after.end, new)])
    return sentence.caption


def _without_negation(caption: str) -> str:
    """The caption without its first negation; "does not run" becomes "runs".

    >>> [_without_negation(caption) for caption in ("he does not run", "a dog isn't barking", "nobody is there")]
    ['he runs', 'a dog is barking', 'somebody is there']
    """
    with_do = _DO.search(caption)
    if with_do:
        verb = inflect(with_do[2].lower(), _DO_TAG[with_do[1].lower()])
        return caption[: with_do.start()] + like_case(verb, with_do.group()) + caption[with_do.end() :]
    for old, new in _IRREGULAR.items():
        match = re.search(rf"\b{old}\b", caption, re.IGNORECASE)
        if match:
            return caption[: match.start()] + like_case(new, match.group()) + caption[match.end() :]
    negation = _NEGATION.search(caption)
    if negation is None:
        return _NOBODY.sub(
            lambda nobody: like_case("some" + nobody[1].lower().strip(), nobody.group()), caption, count=1
        )
    rest = caption[negation.end() :]
    if negation.start() == 0:  # "Never touch it"
        rest = like_case(rest[:1], negation.group()) + rest[1:]
    return caption[: negation.start()] + rest


_MOST_WORDS = 13  # words: readers found 21 % of the passives of longer captions faulty, 7 % of those of the others
_BY = {"he": "him", "she": "her", "they": "them", "i": "me", "we": "us"}
# Labels of words that may hang on the verb of a statement: no second verb, no clause, no second object.
_PARTS = ("nsubj", "dobj", "aux", "prt", "prep", "dative", "advmod", "punct")
_CLAUSE_TAGS = ("VB", "VBZ", "VBP", "VBD", "MD", "TO", "WDT", "WP", "WRB")
_NO_PLACE = ("as", "like", "of", "by", "than")  # prepositions that tell nothing of where, when or how
_TELLING = ("demonstrate", "narrate", "present", "report", "review")
_WAYS = ("down", "over", "around", "through", "along")  # "rides down the street": no particle
_OTHERS = ("cover", "open", "remove", "serve")  # "remove the lid and stir", "add oil and cover": another thing


def passive(sentence: Sentence) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    >>> from video_contrast.perturbations.english import parse
    >>> [passive(sentence) for sentence in parse(["a little girl does gymnastics", "add the onions to the pan"])]
    ['gymnastics is done by a little girl', 'the onions are added to the pan']
    """
    text = (_passive_of_orders if sentence.orders else _passive_of_statement)(sentence)
    if text is None:
        return sentence.caption
    return text[:1].upper() + text[1:] if sentence.caption[:1].isupper() else text


def _passive_of_statement(s: Sentence) -> str | None:
    """The passive of the main clause; None where some word has no place in it."""
    clause = _main_clause(s) if len(s) <= _MOST_WORDS else None
    if clause is None:
        return None
    verb, subject, obj = clause
    clause_of_subject = s.subtree(verb) if subject == s.words[verb].head else []  # "a man driving a car"
    subject_phrase = [n for n in s.subtree(subject) if n not in clause_of_subject]
    start, end = subject_phrase[0], subject_phrase[-1] + 1
    object_start, object_end = s.span(obj)
    group = list(range(end, object_start))  # auxiliaries, adverbs, verb, particle
    stop = len(s) - 1 if s.words[-1].text in (".", "!") else len(s)
    be = _forms_of_be(s, verb, s.is_plural(obj))
    parts = [n for n in s.children_with(verb, "aux", "advmod", "prt") if end <= n < object_start]
    whole = sorted([verb, *parts]) == group and _is_adverbial(s, verb, 0, start)
    if be is None or not whole or not _is_adverbial(s, verb, object_end, stop) or _is_ambiguous(s, verb, obj):
        return None
    adverbs = [s.words[n].text for n in parts if s.words[n].dep == "advmod" and n < verb]
    past = [be, *adverbs, inflect(s.words[verb].lemma, "VBN"), s.text(verb + 1, object_start)]
    by = "by " + _BY.get(s.words[subject].text, within(s.text(start, end), s.words[start].tag))
    pieces = [s.text(0, start), s.text(object_start, object_end), *past, s.text(object_end, stop), by]
    return " ".join(filter(None, pieces)) + s.text(stop, len(s))


def _is_ambiguous(s: Sentence, verb: int, obj: int) -> bool:
    """Whether a phrase may belong to another word: a tool read with the object, a topic with the verb."""
    behind = [n for n in s.children_with(verb, "prep", "dative", "advmod", "prt") if n > verb]
    tells = has_class(s.words[verb].lemma, "speech") or s.words[verb].lemma in _TELLING
    moved = any(tells if n > obj else s.words[n].dep == "advmod" for n in behind)
    return moved or any(s.words[n].text not in ("of", "about") for n in s.children_with(obj, "prep"))


def _main_clause(s: Sentence) -> tuple[int, int, int] | None:
    """Verb, subject and object of the main clause; None without one that has a passive."""
    verb = s.root
    if verb is not None and s.words[verb].is_noun:
        verb = s.child(verb, "acl")  # "a man driving a car"
    if verb is None or has_class(s.words[verb].lemma, "no_passive") or not s.is_verb_form(verb):
        return None
    particle = s.particle(verb)
    loses_words = any(s.words[n].dep not in _PARTS for n in s.children[verb])
    if loses_words or (particle is not None and s.words[particle].text in _WAYS):
        return None
    subject, obj = s.subject(verb), s.object(verb)
    if subject is None or obj is None or not _is_movable(s, obj):
        return None
    bare = (s.words[verb].tag == "VBP" and not s.is_plural(subject)) or s.words[0].text in _QUESTION_WORDS
    bare = bare or (s.words[verb].tag == "VBD" and s.words[s.span(subject)[0]].is_noun and not s.is_person(subject))
    has_subject = s.words[subject].tag[:2] in ("NN", "PR", "DT") and not bare  # "game play footage" has no verb
    return (verb, subject, obj) if has_subject else None


def _forms_of_be(s: Sentence, verb: int, plural: bool) -> str | None:
    """The forms of "be" that carry a verb's tense in the passive; None for a group of auxiliaries that has none."""
    tag, words = s.words[verb].tag, [s.words[n] for n in s.auxiliaries(verb)]
    lemmas = [word.lemma for word in words]
    present, past = ("are", "were") if plural else ("is", "was")
    if not words:
        return {"VBZ": present, "VBP": present, "VBD": past, "VBG": "being"}.get(tag)
    if lemmas == ["be"] and tag == "VBG":
        return f"{past if words[0].tag == 'VBD' else present} being"
    if lemmas == ["have"] and tag == "VBN":
        return "had been" if words[0].tag == "VBD" else "have been" if plural else "has been"
    return f"{words[0].text} be" if len(words) == 1 and words[0].tag == "MD" and tag == "VB" else None


def _is_movable(s: Sentence, obj: int) -> bool:
    """Whether an object is a noun phrase that can be a subject: no clause, no pronoun, no "walk" of "takes a walk"."""
    inside, word = [s.words[n] for n in s.subtree(obj)], s.words[obj]
    unclear = len(word.text) == 1 or (word.text.endswith("s") and not is_noun(word.text))  # one, or several?
    unclear = unclear or any(n > obj and s.words[n].tag == "RB" for n in s.children[obj])  # "reads notes outside"
    if not word.is_noun or unclear or _is_list(s, obj) or has_class(word.lemma, "light_object"):
        return False
    second_verb = any(w.dep == "conj" and w.text.endswith("ing") for w in inside)  # "drinking coffee and shopping"
    clause = any(w.tag in (*_CLAUSE_TAGS, "PRP", "PRP$") or w.dep in ("acl", "relcl", "appos") for w in inside)
    return not (second_verb or clause)


def _is_list(s: Sentence, obj: int) -> bool:
    """Whether an object may be several things without commas ("salt ground pepper") or two objects ("a boy chips")."""
    before = [n for n in range(s.span(obj)[0], obj) if s.words[n].head >= n]
    nouns = [n for n in before if s.words[n].is_noun]
    broken = any(s.words[n].tag in ("JJ", "VBN", "VBG", "CD") for n in before if n > min(nouns, default=obj))
    bare = len(nouns) > 1 and s.words[before[0]].tag not in ("DT", "PRP$")
    of_two = [n for n in nouns if s.words[n].dep == "compound" and s.is_person(n)]
    named = has_class(s.words[obj].lemma, "uncountable") and any(s.words[n].tag == "NNP" for n in nouns)
    return ((broken or bare) and not s.is_plural(obj)) or named or bool(of_two and not s.is_person(obj))


def _is_adverbial(s: Sentence, verb: int, start: int, end: int) -> bool:
    """Whether the words from `start` to `end` are prepositional phrases and adverbs of a verb, without a pronoun."""
    parts = [n for n in s.children_with(verb, "prep", "dative", "advmod", "prt") if start <= n < end]
    places = [n for part in parts for n in s.subtree(part)]
    alone = any(s.words[n].text in _NO_PLACE or (s.words[n].dep == "prep" and not s.children[n]) for n in parts)
    if alone or sorted(places) != list(range(start, end)):
        return False
    return not any(s.words[n].tag in (*_CLAUSE_TAGS, "PRP", "PRP$", "VBG", "CC") for n in places)


def _passive_of_orders(s: Sentence) -> str | None:
    """ "heat oil and add the onion" as "oil is heated and the onion is added"; None where an object is not clear."""
    if s.hides_order or s.object(s.orders[0]) is None:
        return None
    text, at = "", 0
    for verb in s.orders:
        passive_order = _passive_of_order(s, verb, at)
        if passive_order is None:
            return None
        start, end, new = passive_order
        text, at = text + _text_between(s, at, start) + new, end
    return text + _text_between(s, at, len(s))


def _passive_of_order(s: Sentence, verb: int, at: int) -> tuple[int, int, str] | None:
    """An order behind `at`: first place and place behind the last of verb and object, and what stands there instead."""
    obj, word = s.object(verb), s.words[verb]
    if has_class(word.lemma, "no_passive") or s.children_with(verb, "aux", "neg", "dative") or verb < at:
        return None
    after = verb + 2 if s.particle(verb) == verb + 1 else verb + 1
    past = inflect(word.text, "VBN")
    if obj is None:  # "... and stir": what was told of before is stirred
        return None if _is_of_another(s, verb, after) else (verb, verb + 1, past)
    end = s.span(obj)[1]  # what says where or how belongs to the verb in an order ("put it on the rice")
    end = next((n for n in range(obj + 1, end) if s.words[n].tag in ("RB", "IN") and s.words[n].text != "of"), end)
    pronoun, them = s.words[obj].tag == "PRP", s.words[obj].text == "them"
    if s.span(obj)[0] != after or s.words[end - 1].tag == "CC" or not (pronoun or _is_movable(s, obj)):
        return None
    lead = max(s.order_start(verb), at)
    subject, be = "they" if them else s.text(after, end), "are" if them or s.is_plural(obj) else "is"
    pieces = [subject, be, s.text(lead, verb), past, s.text(verb + 1, after)]
    return lead, end, " ".join(filter(None, pieces))


def _is_of_another(s: Sentence, verb: int, after: int) -> bool:
    """Whether an order without an object may be about another thing than the one before: "remove the lid and stir".

    `after`: the place behind the verb and its particle.
    """
    word, behind = s.words[verb], s.words[after : after + 2]
    stirred_in = [w.text == "in" or w.is_noun or w.tag == "CD" for w in behind] == [True, True]  # "stir in flour"
    noun = s.child(verb, "dobj") is not None or stirred_in or (bool(behind) and behind[0].is_noun)
    return noun or word.text in _OTHERS or s.words[word.head].text in _OTHERS


def _text_between(s: Sentence, start: int, end: int) -> str:
    """The caption from behind the word before `start` up to the word at `end`, blanks included."""
    first = s.words[start - 1].end if start else 0
    return s.caption[first : s.words[end].start if end < len(s) else None]


SAMPLES = 5
TOP_K, TOP_P = 50, 0.95
_LONGEST = 64  # tokens of a rewriting, at most
_PROMPTS = {
    "casual_to_formal": "transfer Casual to Formal: ",
    "formal_to_casual": "transfer Formal to Casual: ",
    "active_to_passive": "transfer Active to Passive: ",
}


def _register(name: str, summary: str) -> None:
    def transfer(
        captions: list[str], rngs: list[Generator], *, profile: str = "paper", models: Given = None
    ) -> list[str]:
        return _transfer(name, captions, rngs, models)

    transfer.__doc__ = summary
    model_perturbation(name, category="TextStyle", origin="natural")(transfer)


_register("casual_to_formal", "The caption in formal English, by a style-transfer checkpoint.")
_register("formal_to_casual", "The caption in casual English, by a style-transfer checkpoint.")


@text_perturbation(
    "active_to_passive",
    category="TextStyle",
    origin="natural",
    version="11",
    requirements=(
        "parse",
        "named:prithivida/active_to_passive_styletransfer",
        "named:prithivida/parrot_adequacy_model",
    ),
    batched=True,
)
def active_to_passive(
    sentences: list[Sentence], rngs: list[Generator], *, profile: str = "paper", models: Given = None
) -> list[str]:
    """The caption in the passive, by rules (or by a style-transfer checkpoint that is named)."""
    if checkpoints.names_of("active_to_passive", models)[0] == checkpoints.RULES:
        return [passive(sentence) for sentence in sentences]
    return _transfer("active_to_passive", [sentence.caption for sentence in sentences], rngs, models)


def _transfer(name: str, captions: list[str], rngs: list[Generator], models: Given) -> list[str]:
    style, adequacy = checkpoints.available(name, models)
    tokenizer, model = checkpoints.pretrained("AutoModelForSeq2SeqLM", style, name)
    judge = checkpoints.pretrained("AutoModelForSequenceClassification", adequacy, name)
    rewritten = sample_rewritings([_PROMPTS[name] + caption for caption in captions], rngs, tokenizer, model)
    return choose(captions, rewritten, *judge)


def sample_rewritings(
    texts: list[str], rngs: list[Generator], tokenizer: Tokenizer, model: TorchModel
) -> list[list[str]]:
    """Returns `SAMPLES` sampled outputs a text.

    `texts`: the inputs of the model, with its prefix. `rngs`: one stream a text; its samples depend on nothing else,
    whatever is in the batch.
    """
    from transformers import LogitsProcessorList

    inputs = [tokenizer(text, truncation=True, max_length=2 * _LONGEST)["input_ids"] for text in texts]
    outputs_of: list[list[str]] = [[] for _ in texts]
    for batch in checkpoints.batches(inputs, len):
        rows = [n for n in batch for _ in range(SAMPLES)]
        draws = [stream("rewriting", int(rngs[n].integers(1 << 62))) for n in batch for _ in range(SAMPLES)]
        options = {"num_beams": 1, "max_new_tokens": _LONGEST, "logits_processor": LogitsProcessorList([_Draw(draws)])}
        outputs = checkpoints.outputs([inputs[n] for n in rows], tokenizer, model, **options)
        for n, text in zip(rows, outputs, strict=True):
            outputs_of[n].append(text)
    return outputs_of


class _Draw:
    """Makes greedy decoding sample: each row's next token is drawn from its own generator, within top-k and top-p.

    `generate(do_sample=True)` draws all rows from one global generator, so a caption's result would change with its
    neighbours in the batch.
    """

    def __init__(self, rngs: list[Generator]) -> None:
        self._rngs = rngs

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        import torch

        best, places = scores.float().topk(min(TOP_K, scores.shape[-1]), dim=-1)
        share = best.softmax(dim=-1).double()
        before = share.cumsum(dim=-1) - share
        share = torch.where(before < TOP_P, share, 0.0)
        points = torch.tensor([rng.random() for rng in self._rngs], dtype=torch.float64, device=scores.device)
        sums = share.cumsum(dim=-1)
        drawn_columns = (sums < points[:, None] * sums[:, -1:]).sum(dim=-1, keepdim=True).clamp(max=share.shape[-1] - 1)
        out = torch.full_like(scores, -torch.inf)
        return out.scatter(1, places.gather(1, drawn_columns), 0.0)


def choose(captions: list[str], rewritten: list[list[str]], tokenizer: Tokenizer, model: TorchModel) -> list[str]:
    """Returns of each caption's rewritings the one that follows from it best; the first of equals.

    Args:
        captions: the originals.
        rewritten: the candidates of each; where none holds text, the caption stays.
        tokenizer, model: a classifier of pairs with a label "entailment" (else its last label).
    """
    import torch

    pairs = [(row, text) for row, texts in enumerate(rewritten) for text in dict.fromkeys(texts) if text]
    inputs = [tokenizer(captions[row], text, truncation=True, max_length=4 * _LONGEST) for row, text in pairs]
    numbers = [int(n) for n, label in model.config.id2label.items() if str(label).lower().startswith("entail")]
    entailment = numbers[0] if numbers else int(model.config.num_labels) - 1  # inference heads put it last
    scores = [0.0] * len(pairs)
    for batch in checkpoints.batches(inputs, lambda encoding: len(encoding["input_ids"])):
        names = [name for name in inputs[batch[0]] if name in ("input_ids", "attention_mask", "token_type_ids")]
        encodings = {name: torch.tensor([inputs[n][name] for n in batch], device=model.device) for name in names}
        with torch.inference_mode():
            share = model(**encodings).logits.float().softmax(dim=-1)[:, entailment].cpu().tolist()
        for n, value in zip(batch, share, strict=True):
            scores[n] = value
    best: dict[int, tuple[float, str]] = {}
    for (row, text), score in zip(pairs, scores, strict=True):
        if row not in best or score > best[row][0]:
            best[row] = (score, text)
    return [best[row][1] if row in best else caption for row, caption in enumerate(captions)]


_PAST_OF_MODALS = {"can": "could", "will": "would", "may": "might", "shall": "should"}
_PAST_OF_MODALS |= {"ca": "could", "wo": "would", "sha": "should", "'ll": " would", "’ll": " would"}  # "can't", "he'll"
_PRESENT_OF_MODALS = {"could": "can", "would": "will"}
_BEFORE_BARE_VERBS = ("let", "make", "help")
_REQUESTS = ("please", "let")  # "please add oil", "let's go" have no past


@text_perturbation("tense", category="TextStyle", origin="natural", version="9", requirements=("parse",))
def tense(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """Present becomes past and past becomes present (`released`: any other form of a tenth of the words)."""
    if profile == "released":
        forms = parsed("verb_tenses.json")  # verb form -> the verb's other forms
        verbs = [n for n, word in enumerate(sentence.words) if word.is_verb and word.text in forms]
        drawn_verbs = sample(len(verbs), how_many(0.1, len(sentence)), rng) if verbs else ()
        changes = {verbs[n]: pick(forms[sentence.words[verbs[n]].text], rng) for n in drawn_verbs}
    else:
        changes = _past_of_orders(sentence) if sentence.orders else _other_tense(sentence)
    return rewritten(sentence, changes, articles=False)


def _past_of_orders(sentence: Sentence) -> dict[int, str]:
    """ "add oil and cook until it is hot" as "added oil and cooked until it was hot"."""
    if sentence.words[0].text in _REQUESTS or sentence.hides_order:
        return {}
    finite = _finite_verbs(sentence)
    clauses = [n for n, verb in finite.items() if sentence.words[verb].dep in ("advcl", "relcl")]
    changes = {n: _past_form(sentence, n) for n in clauses if sentence.words[n].tag != "VBD"}
    for verb in sentence.orders:
        do = next((n for n in sentence.auxiliaries(verb) if sentence.words[n].text == "do"), None)
        place, form = (verb, inflect(sentence.words[verb].text, "VBD")) if do is None else (do, "did")
        changes[place] = form
    return changes


def _other_tense(sentence: Sentence) -> dict[int, str]:
    """The finite verbs that are in the tense of the caption's first clause, in the other tense."""
    finite = _finite_verbs(sentence)
    if not finite or any(sentence.hides_verb(n, "VBZ") for n in range(len(sentence))):
        return {}
    words = sentence.words
    first = words[next(iter(finite))]
    if first.tag != "VBD" and first.text not in _PRESENT_OF_MODALS:
        present = [n for n in finite if words[n].tag in ("VBZ", "VBP") or words[n].text in _PAST_OF_MODALS]
        return {n: _past_form(sentence, n) for n in present}
    changes = {}
    for place, verb in finite.items():
        word, subject = words[place], sentence.subject(verb)
        if word.text in _PRESENT_OF_MODALS:
            changes[place] = _PRESENT_OF_MODALS[word.text]
        elif word.tag == "VBD" and (subject is not None or word.lemma == "be"):
            plural = word.text == "were" if word.lemma == "be" else sentence.is_plural(subject or 0)
            changes[place] = inflect(word.lemma, "VBP" if plural else "VBZ")
        else:
            return {}
    return changes


def _finite_verbs(sentence: Sentence) -> dict[int, int]:
    """Place of the word that carries the tense -> its verb, outermost clause first; empty where one is doubtful.

    Doubtful are verbs that no dictionary has in the form of their tag ("he s singing"), that have no subject, that are
    joined to a noun, or that are read as infinitives without a reason; and what "used to" be.
    """
    finite = {}
    for verb in sorted(sentence.verbs, key=lambda verb: (len([*sentence.ancestors(verb)]), verb)):
        place, word = sentence.finite(verb), sentence.words[verb]
        head = sentence.words[word.head]
        if verb in sentence.orders or (word.dep == "ccomp" and head.lemma in _BEFORE_BARE_VERBS):
            continue
        if place is None:
            if word.tag == "VB" and not sentence.auxiliaries(verb) and word.dep == "conj":
                return {}
            continue
        joined_to_noun = word.dep == "conj" and not head.is_verb
        used_to = word.text == "used" and sentence.child(verb, "xcomp") is not None
        if not sentence.is_verb_form(place) or not sentence.has_subject(verb) or joined_to_noun or used_to:
            return {}
        finite[place] = verb
    return finite


def _past_form(sentence: Sentence, place: int) -> str:
    word = sentence.words[place]
    if word.tag == "MD":
        return _PAST_OF_MODALS.get(word.text, word.text)
    clitic = " " if word.text[0] in "'’" else ""
    if word.lemma != "be":
        return clitic + inflect(word.lemma, "VBD")
    after = sentence.words[place + 1 : place + 2]
    if word.text in ("'s", "’s") and after and after[0].text in ("got", "been", "had"):
        return " had"
    return clitic + ("were" if word.text in ("are", "'re", "’re") else "was")
