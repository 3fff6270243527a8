"""Commands of the API's functions: options made from the signatures, and printed results."""
