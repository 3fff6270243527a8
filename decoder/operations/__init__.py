"""The operation sequence model: phrase pairs as operations, their scores, and the states after them."""
