DELETE FROM namespace_access
WHERE namespace_id IN (
    SELECT n.id FROM namespaces n JOIN users u ON u.id = n.owner_id WHERE n.kind = 'user' AND u.bot
);
DELETE FROM namespaces
WHERE kind = 'user' AND owner_id IN (SELECT id FROM users WHERE bot);
