-- Facts are read in the order of commits, which is the order of ids where there is one writer.
ALTER TABLE outbox ADD COLUMN xid BIGINT NOT NULL DEFAULT 0;
CREATE INDEX outbox_commits ON outbox (xid, id);

-- How far each reader of the outbox has come: `xid` and `event_id` of the last fact it was given.
CREATE TABLE event_cursors (
    name TEXT PRIMARY KEY NOT NULL,
    xid BIGINT NOT NULL,
    event_id BIGINT NOT NULL,
    -- When that fact was announced; NULL before the first one.
    event_at BIGINT,
    -- Since when facts are gone that it was not given; NULL while it has missed nothing.
    gap_since BIGINT,
    moved_at BIGINT NOT NULL
);

-- The exclusive or of the hashes of all refs that count, in four parts, kept by the transactions that decide moves.
CREATE TABLE ref_checksums (
    -- `repository-1`, `wiki-project-1`, `wiki-group-1`
    place TEXT PRIMARY KEY NOT NULL,
    -- `repository` or `wiki`
    kind TEXT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    sum_1 BIGINT NOT NULL,
    sum_2 BIGINT NOT NULL,
    sum_3 BIGINT NOT NULL,
    sum_4 BIGINT NOT NULL,
    -- How often refs were moved since the row is there.
    moves BIGINT NOT NULL,
    -- Whether the sum is of all refs: it was begun with an empty repository, or all refs were counted since.
    counted BOOLEAN NOT NULL,
    check_at BIGINT NOT NULL,
    checked_at BIGINT,
    failure TEXT
);
CREATE INDEX ref_checksums_check ON ref_checksums (check_at);
CREATE INDEX ref_checksums_project_id ON ref_checksums (project_id);
CREATE INDEX ref_checksums_namespace_id ON ref_checksums (namespace_id);

INSERT INTO ref_checksums (place, kind, project_id, sum_1, sum_2, sum_3, sum_4, moves, counted, check_at)
SELECT 'repository-' || id, 'repository', id, 0, 0, 0, 0, 0, FALSE, 0 FROM projects;
INSERT INTO ref_checksums (place, kind, project_id, sum_1, sum_2, sum_3, sum_4, moves, counted, check_at)
SELECT 'wiki-project-' || id, 'wiki', id, 0, 0, 0, 0, 0, FALSE, 0 FROM projects
WHERE EXISTS (SELECT 1 FROM wiki_refs w WHERE w.project_id = projects.id)
   OR EXISTS (SELECT 1 FROM project_statistics s WHERE s.project_id = projects.id AND s.wiki_size > 0);
INSERT INTO ref_checksums (place, kind, namespace_id, sum_1, sum_2, sum_3, sum_4, moves, counted, check_at)
SELECT 'wiki-group-' || id, 'wiki', id, 0, 0, 0, 0, 0, FALSE, 0 FROM namespaces
WHERE wiki_size > 0 OR EXISTS (SELECT 1 FROM wiki_refs w WHERE w.namespace_id = namespaces.id);

-- What is stored as a file, in the data folder or in a bucket, by the kind of storage and its name there.
CREATE TABLE file_checksums (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    -- NULL until it was read: a file that was there before checksums were kept.
    sha256 TEXT,
    check_at BIGINT NOT NULL,
    checked_at BIGINT,
    failure TEXT,
    PRIMARY KEY (kind, name)
);
CREATE INDEX file_checksums_check ON file_checksums (check_at);
