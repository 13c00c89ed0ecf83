"""Pairs of edited clips: the edit of the video is known, so it is certain which caption is false."""
