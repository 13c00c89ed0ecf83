"""The Space of this module."""

from pathlib import Path

from video_contrast.metrics.space_app import page

demo = page(Path(__file__).resolve().parent)

if __name__ == "__main__":
    demo.launch()
