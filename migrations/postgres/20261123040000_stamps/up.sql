-- What answers that are kept in memory follow from; a new stamp ends them.
CREATE TABLE stamps (
    subject TEXT COLLATE "C" PRIMARY KEY,
    stamp BIGINT NOT NULL
) WITH (fillfactor = 50);

INSERT INTO stamps (subject, stamp) VALUES ('database', hashtextextended(gen_random_uuid()::text, 0));
