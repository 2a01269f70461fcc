"""pytest --polyrace: a test whose launches race fails, with the report in the failure."""
