"""Pairs of edited clips: what was done to the video is known, so which caption is false is certain."""
