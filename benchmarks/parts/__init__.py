"""The parts that benchmarks share: clocks, clips, stand-ins for checkpoints; and the parts of the larger ones."""
