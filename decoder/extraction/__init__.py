"""What one aligned sentence pair holds: its phrase pairs, and how they lie. Training adds it up."""
