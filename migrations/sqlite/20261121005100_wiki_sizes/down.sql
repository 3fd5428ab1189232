ALTER TABLE namespaces DROP COLUMN wiki_size;
ALTER TABLE project_statistics DROP COLUMN wiki_size;
