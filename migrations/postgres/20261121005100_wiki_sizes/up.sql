-- Bytes on disk of the wiki's repository.
ALTER TABLE project_statistics ADD COLUMN wiki_size BIGINT NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN wiki_size BIGINT NOT NULL DEFAULT 0;
