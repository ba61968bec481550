"""One module a dataset format: what people bring becomes a Plan that the writer carries out."""
