"""Models that have what two trainers learned."""
