-- Sentences about other issues, written before they said about which: whoever may not read that one is not shown them.
WITH sentences AS (
    SELECT id AS note_id, project_id,
        CASE
            WHEN body LIKE 'marked this issue as related to %' THEN substr(body, 33)
            WHEN body LIKE 'marked this issue as blocking %' THEN substr(body, 31)
            WHEN body LIKE 'marked this issue as blocked by %' THEN substr(body, 33)
            WHEN body LIKE 'removed the relation with %' THEN substr(body, 27)
            WHEN body LIKE 'moved to %' THEN substr(body, 10)
            WHEN body LIKE 'moved from %' THEN substr(body, 12)
            WHEN body LIKE 'cloned to %' THEN substr(body, 11)
            WHEN body LIKE 'cloned from %' THEN substr(body, 13)
            WHEN body LIKE 'marked this issue as a duplicate of %' THEN substr(body, 37)
            WHEN body LIKE 'marked % as a duplicate of this issue'
                THEN substr(body, 8, length(body) - 36)
        END AS name
    FROM notes
    WHERE is_system AND item_kind = 'Issue' AND source_kind IS NULL
), names AS (
    SELECT note_id, project_id, substr(name, 1, instr(name, '#') - 1) AS path, CAST(substr(name, instr(name, '#') + 1) AS INTEGER) AS iid
    FROM sentences
    WHERE name IS NOT NULL
), named AS (
    SELECT names.note_id, issues.id AS issue_id, issues.project_id
    FROM names
    JOIN projects here ON here.id = names.project_id
    JOIN projects there ON there.full_path = CASE names.path WHEN '' THEN here.full_path ELSE names.path END
    JOIN issues ON issues.project_id = there.id AND issues.iid = names.iid
)
UPDATE notes
SET source_kind = 'Issue', source_id = named.issue_id, source_project_id = named.project_id
FROM named
WHERE notes.id = named.note_id;
