"""The functions of the Python API that train and tune, with the names and defaults of the commands' options."""
