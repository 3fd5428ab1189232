DROP TABLE triggers;
