"""Commands for the functions of the API: options are made from the signatures, and results are printed."""
