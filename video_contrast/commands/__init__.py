"""The subcommands of `video-contrast`, one file each."""
