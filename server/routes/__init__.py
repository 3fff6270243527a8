"""The endpoints, a file for each protocol or purpose."""
