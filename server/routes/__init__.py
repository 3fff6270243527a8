"""The endpoints: one file for each protocol or purpose."""
