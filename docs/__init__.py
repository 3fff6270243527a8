"""The documentation: pages in Markdown, and what writes some of them."""
