"""The subcommands of `video-contrast`, one file each; `command.py` says what a subcommand is.

A function decorated with `@command` is one; its options (`video_contrast.options`) become the flags. What a command
does is in the rooms: here their results are printed.
"""
