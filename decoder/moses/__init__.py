"""Import and export of Moses models: moses.ini and text tables to a model directory, and back."""
