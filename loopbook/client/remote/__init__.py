"""The remote half of the client: a server's book by HTTP, cached, as the last layer of a book.

What a server sends is data: records with recipes, which are checked like any others before they
are applied. No program or source that came from elsewhere is ever compiled or run.
"""
