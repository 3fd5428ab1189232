DROP TABLE bulk_import_failures;
DROP TABLE bulk_import_entities;
DROP TABLE bulk_imports;
DROP TABLE archive_import_ids;
DROP TABLE archive_imports;
DROP TABLE archive_exports;
