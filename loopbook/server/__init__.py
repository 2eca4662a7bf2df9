"""The service: docc's remote-tuning protocol and our own API over one book.

One process answers HTTP; whatever touches docc's C++ runs in a pool of worker processes.
"""
