DROP INDEX seats_counted;
ALTER TABLE seats DROP COLUMN is_counted;
