"""`python -m video_contrast` is the command `video-contrast`: for launchers that take a module, such as torchrun."""

import sys

from video_contrast.cli import main

sys.exit(main())
