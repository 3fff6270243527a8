"""Where long work is done: in this process and its forks, or by Ray's workers on any number of machines."""
