"""Word alignment of files of text: trained on them or by what was saved, with scores, lexicons, and errors by gold."""
