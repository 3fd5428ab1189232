DROP INDEX project_topics_topic;
ALTER TABLE topics DROP COLUMN avatar;
ALTER TABLE topics DROP COLUMN description;
ALTER TABLE topics DROP COLUMN title;
