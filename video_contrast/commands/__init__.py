"""The subcommands of `video-contrast`, one file each; `command.py` says what a subcommand is.

A file has `commands()`, which names its functions; their options (`video_contrast.options`) become the flags. What a
command does is in the rooms: here their results are printed. `score_output.py` and `score_runs.py` belong to `score`,
`perturb_text.py` and `perturb_video.py` to `perturb`.
"""
