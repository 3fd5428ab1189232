-- Where each ref of a wiki was put last, told in the transaction that decided it. Until it is settled, git may not have
-- followed yet.
CREATE TABLE wiki_refs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    wiki TEXT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    ref_name TEXT NOT NULL,
    old_sha TEXT,
    new_sha TEXT,
    settled BOOLEAN NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (wiki, ref_name)
);
CREATE INDEX wiki_refs_project_id ON wiki_refs (project_id);
CREATE INDEX wiki_refs_namespace_id ON wiki_refs (namespace_id);
CREATE INDEX wiki_refs_unsettled ON wiki_refs (id) WHERE NOT settled;
