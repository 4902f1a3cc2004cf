"""`python -m probes device|endpoint|machine`: one JSON object a line, the record last."""

from __future__ import annotations

import sys

from probes.command import main

if __name__ == "__main__":
    sys.exit(main())
