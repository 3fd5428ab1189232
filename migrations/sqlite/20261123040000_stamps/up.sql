-- What answers that are kept in memory follow from; a new stamp ends them.
CREATE TABLE stamps (
    subject TEXT NOT NULL PRIMARY KEY,
    stamp BIGINT NOT NULL
) WITHOUT ROWID;

INSERT INTO stamps (subject, stamp) VALUES ('database', random());
