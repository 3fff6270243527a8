"""What a training did, and how systems differ, as pages: each a single file of HTML."""
