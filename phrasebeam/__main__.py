"""`python -m phrasebeam`."""

import sys

from phrasebeam.cli import main

if __name__ == "__main__":
    sys.exit(main())
