"""One file a family of rules, each ending in `rules: tuple[Rule, ...] = …`; pipeline.einvoices.checks finds them."""
