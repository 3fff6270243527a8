"""What all packages use and that is independent of translation: errors, files, settings, progress, memory, threads."""
