"""One file a data set: captioned videos in, tables of contrast sets out."""
