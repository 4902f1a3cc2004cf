"""Files and the database: profiles in, domain objects out. The only importer of duckdb."""
