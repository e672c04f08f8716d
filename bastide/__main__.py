"""``python -m bastide``."""

import sys

from bastide.cli import main

sys.exit(main())
