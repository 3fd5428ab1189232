-- What people read of a topic beside its name.
ALTER TABLE topics ADD COLUMN title TEXT;
ALTER TABLE topics ADD COLUMN description TEXT;
ALTER TABLE topics ADD COLUMN avatar TEXT;
CREATE INDEX project_topics_topic ON project_topics (topic_id);
