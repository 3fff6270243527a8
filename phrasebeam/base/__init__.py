"""Code of all packages, independent of translation: errors, files, settings, progress, memory, threads."""
