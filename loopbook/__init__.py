"""loopbook: a database of tuned loop nests with similarity search."""
