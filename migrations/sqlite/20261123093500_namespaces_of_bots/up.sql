-- Every account has a namespace of its own, bots too; what is made for a group or project makes no projects in it.
INSERT INTO namespaces (
    kind, name, path, full_path, path_key, full_name, owner_id, visibility, project_creation_level,
    subgroup_creation_level, created_at, updated_at
)
SELECT
    'user', u.name, u.username, u.username, u.username_key, u.name, u.id, 'public', 'developer',
    'maintainer', u.created_at, u.created_at
FROM users u
WHERE u.bot
  AND NOT EXISTS (SELECT 1 FROM namespaces n WHERE n.kind = 'user' AND n.owner_id = u.id)
  AND NOT EXISTS (SELECT 1 FROM namespaces n WHERE n.path_key = u.username_key);

INSERT INTO namespace_access (user_id, namespace_id, access_level)
SELECT u.id, n.id, 50
FROM users u
JOIN namespaces n ON n.owner_id = u.id AND n.kind = 'user'
WHERE u.bot
  AND NOT EXISTS (
      SELECT 1 FROM namespace_access a WHERE a.user_id = u.id AND a.namespace_id = n.id
  );

-- External people make nothing of their own, either.
UPDATE users SET projects_limit = 0, can_create_group = FALSE WHERE bot OR external;
