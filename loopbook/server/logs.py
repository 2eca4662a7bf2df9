"""The server's log: a line for each thing that happened, whatever clients write into it."""

from __future__ import annotations

import logging

from loopbook.printable import printable


class CleanFormatter(logging.Formatter):
    """Lets nothing into the log that a terminal takes for a command, or a reader for another line:
    what a message has after its first line is indented."""

    def format(self, record: logging.LogRecord) -> str:
        lines = super().format(record).splitlines()
        return "\n    ".join(map(printable, lines))


def log_to_terminal() -> None:
    """Send what the server has to say to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(CleanFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # It says of every malformed request only that it was one; the figures count them.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: record.getMessage() != "Invalid HTTP request received."
    )
