DROP TABLE namespace_bans;
DROP TABLE project_downloads;
