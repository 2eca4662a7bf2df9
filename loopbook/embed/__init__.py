"""From nests to vectors: the nest graph, the graph neural network, its training and its inference.

`loopbook.embed.inference.Encoder` is what the rest of loopbook uses; it needs NumPy only. Torch is
imported by `model` and `train` alone.
"""
