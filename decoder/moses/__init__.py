"""Moses models as they are: moses.ini and text tables read into a model directory, and written from one."""
