"""What the operating system does with a process: signals, children, locks, temporary files, standard streams."""
