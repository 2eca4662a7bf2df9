"""The explorer: a book to look at in a browser, from a program of ours on this machine
(``loopbook ui``), from a server, or as one file (``loopbook report``).

Every page is a document (`documents`) that a web application draws; the same document is the page's
``.json`` twin. What a page says is worked out in the file named after it. What touches docc, or
reads nests that somebody sent, runs in a child process (`jobs`).
"""
