"""Reports on trainings and on comparisons of systems; each is a page in a single HTML file."""
