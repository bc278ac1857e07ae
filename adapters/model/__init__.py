"""We play the model: the script, the markers that route it, and a codec for each wire format."""
