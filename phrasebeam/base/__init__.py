"""What every package uses and that knows nothing of translation: errors, files, settings, progress, memory, threads."""
