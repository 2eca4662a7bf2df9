"""Training the encoder and the cost model on what was measured, and evaluating them honestly."""
