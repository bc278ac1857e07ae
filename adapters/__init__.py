"""How a harness is driven: one seam (`protocol`), process supervision, the model server, one package a harness."""
