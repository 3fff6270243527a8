"""Reports of trainings and comparisons of systems, each a page in a single HTML file."""
