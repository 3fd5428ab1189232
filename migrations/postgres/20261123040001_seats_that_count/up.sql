-- Machines, and people who are kept out, have seats that do not count.
ALTER TABLE seats ADD COLUMN is_counted BOOLEAN NOT NULL DEFAULT TRUE;
UPDATE seats SET is_counted = FALSE
WHERE user_id IN (SELECT u.id FROM users u WHERE u.state <> 'active' OR u.bot);
CREATE INDEX seats_counted ON seats (namespace_id, user_id) WHERE is_counted;
