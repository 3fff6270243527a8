"""Endpoints as programs of others call them: LibreTranslate, MateCat, Moses."""
