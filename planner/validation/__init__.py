"""The speed model fitted on and scored against published measurements. Reads files, prints tables."""
