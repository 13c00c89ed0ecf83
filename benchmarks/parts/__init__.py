"""What several benchmarks share: clocks, clips, stand-ins for checkpoints; and the parts of the larger ones."""
