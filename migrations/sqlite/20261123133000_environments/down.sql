DROP TABLE environments;
