"""The 66 pairs of a visual and a text perturbation (robustness paper, section 5)."""

PAIR_SEVERITY = 3
"""The severity of the visual side of every pair."""

_VISUAL = ("box_jumble", "defocus_blur", "jpeg", "jumble", "shot_noise", "static_rotate")
_TEXT = (
    "append_irr", "gender_female", "gender_male", "gender_swap", "mlm_suggestion", "multi_pos_swap_NN",
    "no_nouns_and_no_verbs", "no_verbs", "random_noun", "shuffle_order", "spelling_error",
)  # fmt: skip

PAIRS: tuple[tuple[str, str], ...] = tuple((visual, text) for visual in _VISUAL for text in _TEXT)
"""(visual name, text name), 6 x 11; three of the eleven texts are gender ones, which YouCook2 has no use for."""
