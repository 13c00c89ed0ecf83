"""Analyses of the papers on stored scores: rarity, proximity, distributions."""
