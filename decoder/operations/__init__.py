"""The operation sequence model: phrase pairs as operations, their scores, the states that these leave."""
