"""The pages of the documentation that are written from the code, and what MkDocs is told to build the site."""
