"""How a multiple-choice set is put together: clips, contrasts, distractors, options, processes."""
