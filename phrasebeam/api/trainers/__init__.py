"""What the commands that train and tune do, as functions of Python with their names and defaults."""
