"""Training the encoder and the head on what was measured, and evaluating them honestly."""
