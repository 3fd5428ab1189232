-- What a release brings beside its tag: links to files elsewhere, and the milestones that it completes.
CREATE TABLE release_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    release_id BIGINT NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    filepath TEXT,
    link_type TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (release_id, name),
    UNIQUE (release_id, url),
    UNIQUE (release_id, filepath)
);
CREATE TABLE release_milestones (
    release_id BIGINT NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    milestone_id BIGINT NOT NULL REFERENCES milestones (id) ON DELETE CASCADE,
    PRIMARY KEY (release_id, milestone_id)
);
CREATE INDEX release_milestones_milestone_id ON release_milestones (milestone_id, release_id);
CREATE INDEX releases_created_at ON releases (project_id, created_at, id);
