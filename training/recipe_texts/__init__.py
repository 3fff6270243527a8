"""The texts of a recipe: cleaned, held out, without rare spellings, with a dictionary."""
