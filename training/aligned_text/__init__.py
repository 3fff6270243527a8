"""Word alignment of text files, by new or saved aligners, with scores, lexicons, and errors against gold alignments."""
