"""The nouns of the planner: frozen models, units, labelled figures, errors. No I/O, no clock."""
