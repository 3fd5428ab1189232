-- SQLite's index of texts answers for several columns at once already.
SELECT 1;
