"""Runs a module as a child process, which ends with its parent: python -m phrasebeam.process.child MODULE PARENT.

The module may take seconds to be imported; the end of the parent, a process id, is noticed from the beginning.
"""

import runpy
import sys

from phrasebeam.process.children import end_with_starter

if __name__ == "__main__":
    end_with_starter()
    runpy.run_module(sys.argv[1], run_name="__main__")
