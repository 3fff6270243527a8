"""The methods of tuning: each takes a problem, n-best lists with a metric, and returns weights."""
