"""Where the similarity of classes comes from: their names, a model's prototypes, a confusion matrix, a file."""
