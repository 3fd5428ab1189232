-- The commit of the default branch that readme, licence, languages and figures were found at.
ALTER TABLE project_statistics ADD COLUMN head_sha TEXT;
