"""Endpoints with the interfaces of other programs: LibreTranslate, MateCat, Moses."""
