-- What people set for one pipeline or job is sealed. A migration has no key: rows of before keep their value in `clear`
-- until the server seals them, which it does when it starts.
ALTER TABLE pipeline_variables RENAME COLUMN value TO clear;
ALTER TABLE pipeline_variables ADD COLUMN sealed TEXT COLLATE "C";
CREATE INDEX pipeline_variables_clear ON pipeline_variables (id) WHERE sealed IS NULL;
ALTER TABLE job_variables RENAME COLUMN value TO clear;
ALTER TABLE job_variables ADD COLUMN sealed TEXT COLLATE "C";
CREATE INDEX job_variables_clear ON job_variables (id) WHERE sealed IS NULL;
-- Work that was given up, with variables of a push in it: nobody does it any more.
DELETE FROM work
WHERE kind = 'pipeline.make_for_push' AND run_at = 9223372036854775807 AND payload LIKE '%"variables":[[%';
