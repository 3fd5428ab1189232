//! Many people, groups and memberships at once: one of each is made through the API, then copied row by row inside the
//! database, and who reaches what is worked out as the product does it.

use anyhow::{Context as _, Result};
use diesel::connection::SimpleConnection as _;

use super::seed::{self, Copies};
use crate::{
    migrate::Connection,
    schema::{self, Table},
};

/// How much there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) people: i64,
    pub(super) groups: i64,
    pub(super) projects: i64,
    /// Groups of the one large tree; the others lie in trees of twenty, half of which are twenty deep.
    pub(super) large: i64,
    /// Members of the group at the top of the first tree that is twenty deep.
    pub(super) members: i64,
    /// Trees of twenty in which the one person of many groups has a role.
    pub(super) reached: i64,
}

impl Size {
    /// A whole organisation, or one part in `scale` of it.
    pub(super) fn whole(scale: i64) -> Self {
        let scale = scale.max(1);
        let part = |whole: i64| (whole / scale).max(40);
        Self {
            people: part(100_000),
            groups: part(20_000),
            projects: part(100_000),
            large: part(2_000),
            members: part(5_000),
            reached: (150 / scale).max(1),
        }
    }

    const TREE: i64 = 20;
}

/// The rows that are copied, and the one who is in many groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Templates {
    pub(super) user: i64,
    pub(super) group: i64,
    pub(super) project: i64,
    pub(super) busy: i64,
}

/// The first ids of what was made, less one.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeedIds {
    pub(super) people: i64,
    pub(super) groups: i64,
    pub(super) projects: i64,
}

pub(super) fn organisation(address: &str, from: Templates, size: Size) -> Result<SeedIds> {
    let mut connection = Connection::open(address)?;
    let mut last = |table: &str| {
        let query = format!("SELECT max(id) AS number FROM {table}");
        seed::number(&mut connection, &query)?.context("a table is empty")
    };
    let made = SeedIds {
        people: last("users")?,
        groups: last("namespaces")?,
        projects: last("projects")?,
    };
    let tables = schema::tables(&mut connection)?;
    let mut script = String::from("BEGIN;\n");
    script.push_str(&people(&tables, from, made, size)?);
    script.push_str(&groups(&tables, from, made, size)?);
    script.push_str(&projects(&tables, from, made, size)?);
    script.push_str(&memberships(from, made, size));
    script.push_str(REACH);
    script.push_str("COMMIT;\n");
    match &mut connection {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => {
            connection.batch_execute(&script)?;
            for table in ["users", "namespaces", "projects", "members", "group_group_links"] {
                let next = format!(
                    "SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}));"
                );
                connection.batch_execute(&next)?;
            }
            // What autovacuum does within a minute.
            connection.batch_execute("VACUUM ANALYZE")?;
        }
    }
    Ok(made)
}

fn table<'a>(tables: &'a [Table], name: &str) -> Result<&'a Table> {
    tables
        .iter()
        .find(|table| table.name == name)
        .with_context(|| format!("there is no table {name}"))
}

/// Numbers from 1 to `count`, as rows of `n`.
fn numbers(count: i64) -> String {
    format!("n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {count})")
}

fn people(tables: &[Table], from: Templates, made: SeedIds, size: Size) -> Result<String> {
    let user = Copies {
        source: from.user,
        with: numbers(size.people),
        rows: "n",
        value: &|column| match column {
            "id" => Some(format!("{} + n.i", made.people)),
            "name" => Some("'Person ' || n.i".to_owned()),
            "username" | "username_key" => Some("'person-' || n.i".to_owned()),
            "email" | "email_key" => Some("'person-' || n.i || '@example.org'".to_owned()),
            "created_at" | "updated_at" => Some(format!("t.{column} - n.i * 1000000")),
            _ => None,
        },
    };
    let home = Copies {
        source: from.user,
        with: numbers(size.people),
        rows: "n",
        value: &|column| match column {
            "id" => Some(format!("{} + n.i", made.groups)),
            "owner_id" => Some(format!("{} + n.i", made.people)),
            "name" => Some("'Person ' || n.i".to_owned()),
            "full_name" => Some("'Person ' || n.i".to_owned()),
            "path" | "full_path" | "path_key" => Some("'person-' || n.i".to_owned()),
            _ => None,
        },
    };
    let profile = Copies {
        source: from.user,
        with: numbers(size.people),
        rows: "n",
        value: &|column| (column == "user_id").then(|| format!("{} + n.i", made.people)),
    };
    Ok(user.text(table(tables, "users")?, "id")
        + &home.text(table(tables, "namespaces")?, "owner_id")
        + &profile.text(table(tables, "user_profiles")?, "user_id"))
}

/// The large tree has ten groups below each; of the others, every second is a chain, the rest are flat.
fn parent(size: Size) -> String {
    let (large, tree) = (size.large, Size::TREE);
    format!(
        "CASE WHEN n.i = 1 THEN NULL WHEN n.i <= {large} THEN (n.i - 2) / 10 + 1 \
         WHEN (n.i - {large} - 1) % {tree} = 0 THEN NULL \
         WHEN ((n.i - {large} - 1) / {tree}) % 2 = 0 THEN n.i - 1 \
         ELSE n.i - (n.i - {large} - 1) % {tree} END"
    )
}

fn groups(tables: &[Table], from: Templates, made: SeedIds, size: Size) -> Result<String> {
    let first = made.groups + size.people;
    let (large, tree) = (size.large, Size::TREE);
    let with = format!(
        "{}, g(i, parent) AS (SELECT n.i, {} FROM n), \
         p(i, parent, path, name) AS (SELECT g.i, g.parent, 'group-' || g.i, 'Group ' || g.i FROM g WHERE g.parent IS NULL \
         UNION ALL SELECT g.i, g.parent, p.path || '/group-' || g.i, p.name || ' / Group ' || g.i FROM g JOIN p ON g.parent = p.i)",
        numbers(size.groups),
        parent(size)
    );
    let copies = Copies {
        source: from.group,
        with,
        rows: "p",
        value: &|column| match column {
            "id" => Some(format!("{first} + p.i")),
            "parent_id" => Some(format!("{first} + p.parent")),
            "name" => Some("'Group ' || p.i".to_owned()),
            "full_name" => Some("p.name".to_owned()),
            "path" => Some("'group-' || p.i".to_owned()),
            "full_path" | "path_key" => Some("p.path".to_owned()),
            "visibility" => Some(format!(
                "CASE WHEN p.i <= {large} THEN 'private' ELSE CASE ((p.i - {large} - 1) / {tree}) % 3 \
                 WHEN 0 THEN 'public' WHEN 1 THEN 'internal' ELSE 'private' END END"
            )),
            _ => None,
        },
    };
    Ok(copies.text(table(tables, "namespaces")?, "id"))
}

fn projects(tables: &[Table], from: Templates, made: SeedIds, size: Size) -> Result<String> {
    let first = made.groups + size.people;
    let each = (size.projects / size.groups).max(1);
    let with = format!(
        "{}, h(i, id, path, name, visibility) AS (SELECT n.i, g.id, g.full_path, g.full_name, g.visibility \
         FROM n JOIN namespaces g ON g.id = {first} + (n.i - 1) / {each} + 1)",
        numbers(size.projects)
    );
    let copies = Copies {
        source: from.project,
        with,
        rows: "h",
        value: &|column| match column {
            "id" => Some(format!("{} + h.i", made.projects)),
            "namespace_id" => Some("h.id".to_owned()),
            "name" => Some("'Project ' || h.i".to_owned()),
            "path" => Some("'project-' || h.i".to_owned()),
            "full_path" | "path_key" => Some("h.path || '/project-' || h.i".to_owned()),
            "full_name" => Some("h.name || ' / Project ' || h.i".to_owned()),
            "description" => Some("'Sample number ' || h.i || ' of many'".to_owned()),
            "visibility" => Some("h.visibility".to_owned()),
            "created_at" | "updated_at" | "last_activity_at" => {
                Some(format!("t.{column} - h.i * 1000000"))
            }
            "star_count" => Some("h.i % 50".to_owned()),
            _ => None,
        },
    };
    let mut script = copies.text(table(tables, "projects")?, "id");
    let told = tables.iter().filter(|table| {
        let of_project = table.columns.iter().any(|column| column.name == "project_id");
        of_project && !["members", "project_access"].contains(&table.name.as_str())
    });
    for table in told {
        script.push_str(&seed::copies_of_rows(table, from.project, made.projects));
    }
    Ok(script)
}

/// A few members of each tree's top, one of each other group, thousands of one group, and one person nearly everywhere.
/// Every tenth tree shares its top with the group at the top of the next.
fn memberships(from: Templates, made: SeedIds, size: Size) -> String {
    let first = made.groups + size.people;
    let (large, tree, busy) = (size.large, Size::TREE, from.busy);
    let (people, count) = (made.people, size.people);
    let add = |who: &str, level: &str, rows: &str| {
        format!(
            "INSERT INTO members (namespace_id, user_id, access_level, created_at, updated_at) \
             SELECT g.id, {who}, {level}, g.created_at, g.created_at FROM namespaces g, {rows};\n"
        )
    };
    let inside = format!("g.id > {first} AND g.id <= {first} + {}", size.groups);
    let few = "(SELECT 1 AS k UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) f";
    let tops = add(
        &format!("{people} + (g.id * 7 + f.k * 13) % {count} + 1"),
        "f.k * 10",
        &format!("{few} WHERE {inside} AND g.parent_id IS NULL"),
    );
    let others = add(
        &format!("{people} + (g.id * 11) % {count} + 1"),
        "30",
        &format!("(SELECT 1 AS k) f WHERE {inside} AND g.parent_id IS NOT NULL"),
    );
    let deep = first + large + 1;
    let many = format!(
        "INSERT INTO members (namespace_id, user_id, access_level, created_at, updated_at) \
         SELECT {deep}, u.id, 30, u.created_at, u.created_at FROM users u \
         WHERE u.id > {people} AND u.id <= {people} + {} \
         AND NOT EXISTS (SELECT 1 FROM members m WHERE m.namespace_id = {deep} AND m.user_id = u.id);\n",
        size.members
    );
    // At the top of most of these trees, and in the third group of the rest, so that there is a way to it.
    let entered = add(
        &busy.to_string(),
        "30",
        &format!(
            "(SELECT 1 AS k) f WHERE g.id = {first} + 1 OR ({inside} AND g.id > {first} + {large} \
             AND (g.id - {first} - {large} - 1) / {tree} BETWEEN 1 AND {} \
             AND (g.id - {first} - {large} - 1) % {tree} = \
             CASE WHEN ((g.id - {first} - {large} - 1) / {tree}) % 10 = 0 THEN 2 ELSE 0 END)",
            size.reached
        ),
    );
    let shares = format!(
        "INSERT INTO group_group_links (namespace_id, invited_id, access_level, created_at, updated_at) \
         SELECT g.id, g.id + {tree}, 30, g.created_at, g.created_at FROM namespaces g \
         WHERE {inside} AND g.id > {first} + {large} AND (g.id - {first} - {large} - 1) % ({tree} * 10) = {tree} * 5 \
         AND g.id + {tree} <= {first} + {};\n",
        size.groups
    );
    format!("{tops}{others}{many}{entered}{shares}")
}

/// Who reaches what: members of a group and of those above it, members of groups that were invited to these, up to the
/// share's role, and in projects whoever reaches their group.
const REACH: &str = "\
DELETE FROM namespace_access;
INSERT INTO namespace_access (user_id, namespace_id, access_level)
WITH RECURSIVE above(id, top) AS (
    SELECT id, id FROM namespaces WHERE kind = 'group'
    UNION ALL SELECT a.id, n.parent_id FROM above a JOIN namespaces n ON n.id = a.top WHERE n.parent_id IS NOT NULL)
SELECT r.user_id, r.id, MAX(r.level) FROM (
    SELECT m.user_id, a.id, m.access_level AS level FROM above a JOIN members m ON m.namespace_id = a.top
    UNION ALL SELECT m.user_id, a.id, CASE WHEN m.access_level < l.access_level THEN m.access_level ELSE l.access_level END
    FROM above a JOIN group_group_links l ON l.namespace_id = a.top
    JOIN above i ON i.id = l.invited_id JOIN members m ON m.namespace_id = i.top
    UNION ALL SELECT owner_id, id, 50 FROM namespaces WHERE owner_id IS NOT NULL) r
GROUP BY r.user_id, r.id;
DELETE FROM project_access;
INSERT INTO project_access (user_id, project_id, access_level)
SELECT r.user_id, r.id, MAX(r.level) FROM (
    SELECT a.user_id, p.id, a.access_level AS level FROM projects p
    JOIN namespace_access a ON a.namespace_id = p.namespace_id AND a.access_level >= 10
    UNION ALL SELECT m.user_id, m.project_id, m.access_level FROM members m WHERE m.project_id IS NOT NULL) r
GROUP BY r.user_id, r.id;
";
