DROP TABLE stamps;
