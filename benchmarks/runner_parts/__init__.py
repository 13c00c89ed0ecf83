"""What `benchmarks/runner.py` is made of: clips, stand-ins for checkpoints, the loop, and throughput."""
