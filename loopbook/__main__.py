"""``python -m loopbook`` is the ``loopbook`` command."""

from __future__ import annotations

import sys

from loopbook.cli import main

sys.exit(main())
