-- What happened to an alert, in sentences.
CREATE TABLE alert_notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    alert_id BIGINT NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    -- None where nobody did it but the installation, and for somebody who is gone.
    author_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX alert_notes_alert ON alert_notes (alert_id, id);
CREATE INDEX alert_notes_author ON alert_notes (author_id) WHERE author_id IS NOT NULL;

-- Pictures of what a monitor showed, each a file among the uploads of its project.
CREATE TABLE alert_metric_images (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    alert_id BIGINT NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    -- The folder and the name of the file.
    secret TEXT NOT NULL,
    filename TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    url TEXT,
    url_text TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX alert_metric_images_alert ON alert_metric_images (alert_id, id);

-- The template of an issue whose text an incident ends with.
ALTER TABLE alert_settings ADD COLUMN issue_template_key TEXT;

-- JSON as a monitor sends it, for those who say where its fields lie.
ALTER TABLE alert_integrations ADD COLUMN payload_example TEXT;

-- The environment that was named, if there was one.
ALTER TABLE alerts ADD COLUMN environment_id BIGINT REFERENCES environments (id) ON DELETE SET NULL;
CREATE INDEX alerts_environment ON alerts (environment_id) WHERE environment_id IS NOT NULL;
