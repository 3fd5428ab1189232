DROP INDEX releases_created_at;
DROP TABLE release_milestones;
DROP TABLE release_links;
