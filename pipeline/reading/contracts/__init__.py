"""Reading contracts: the opening, single clauses, and all that are numbered."""
