"""Code that all routers use: served models, the pool in which requests run, limits, errors, logs, metrics."""
