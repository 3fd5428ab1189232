-- The pipelines of a branch or tag with a status, as the newest failed ones of the default branch; and late pages of all
-- pipelines, which are found without reading the rows before them.
CREATE INDEX pipelines_status_ref ON pipelines (project_id, status, ref_name, id, source);
DROP INDEX pipelines_project;
CREATE INDEX pipelines_project ON pipelines (project_id, id, source);
