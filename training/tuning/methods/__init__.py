"""The methods of tuning: each takes a problem, which is n-best lists with a metric, and returns weights."""
