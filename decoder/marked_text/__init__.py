"""Text with marks in it, such as HTML: what is translated of it, and where the marks stand in the translation."""
