"""Video files: one decoder, which frames are sampled, writing."""
