"""Models of phrasebeam behind the interfaces of other packages."""
