"""Phrase-based statistical machine translation: the public names, which are listed in __init__.pyi.

The module of each is imported when the name is first used, so that `import phrasebeam` loads none of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
