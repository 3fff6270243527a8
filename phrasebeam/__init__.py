"""Phrase-based statistical machine translation: the names that people import, which stand in __init__.pyi.

Each is imported where it is first used, so that `import phrasebeam` takes no time.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
