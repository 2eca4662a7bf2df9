"""A server with canned answers, for trying a client with no book, no torch and no compiler."""
