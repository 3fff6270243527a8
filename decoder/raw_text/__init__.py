"""Raw text to tokens and back: tokenizer, truecaser."""
