DROP TABLE imported_users;
DROP TABLE imported_objects;
DROP TABLE import_failures;
DROP TABLE imports;
