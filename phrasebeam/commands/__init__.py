"""What commands add to the functions of the API: options from their signatures, and what is printed."""
