"""Code that all packages use, independent of translation: errors, files, settings, progress, memory, threads."""
