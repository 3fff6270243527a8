"""What every router stands on: served models, the pool in which requests run, limits, errors, logs, metrics."""
