"""How each family was trained to be asked, as data: every line has a value and the source that it was read from.

recipe.py      what a recipe is, and whether a checkpoint's config contradicts it
encoders.py    dual encoders, X-CLIP, video-text encoders, sentence-transformers
readers.py     matching heads, generative models, rerankers
table.py       the recipe of a checkpoint
"""
