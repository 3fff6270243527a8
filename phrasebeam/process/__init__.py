"""The operating system and a process: signals, children, locks, temporary files, standard streams."""
