-- Where the configuration of a pipeline came from. Nobody kept that of older ones.
ALTER TABLE pipelines ADD COLUMN config_source TEXT;
