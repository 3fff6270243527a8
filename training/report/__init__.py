"""What a training did, as a page: a single file of HTML."""
