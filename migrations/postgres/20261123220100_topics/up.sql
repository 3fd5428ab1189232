-- What people read of a topic beside its name.
ALTER TABLE topics ADD COLUMN title TEXT COLLATE "C";
ALTER TABLE topics ADD COLUMN description TEXT COLLATE "C";
ALTER TABLE topics ADD COLUMN avatar TEXT COLLATE "C";
CREATE INDEX project_topics_topic ON project_topics (topic_id);
