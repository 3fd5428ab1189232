ALTER TABLE pipelines DROP COLUMN config_source;
