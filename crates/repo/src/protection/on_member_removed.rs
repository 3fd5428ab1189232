//! What becomes of records that let somebody past the protection of branches and tags, when they have nothing to do with
//! the project any more: whoever comes back is to be named again.

use db::{Tx, each_backend, error};
use diesel::{RunQueryDsl, sql_query};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};

/// Records, what they are of, and the column that says so.
const TABLES: [(&str, &str, &str); 2] = [
    ("protected_branch_access", "protected_branches", "protected_branch_id"),
    ("protected_tag_access", "protected_tags", "protected_tag_id"),
];
/// Databases take only so many values in one question.
const AT_ONCE: usize = 5_000;

/// Takes away the records in these projects that name people without a role there.
pub fn forget_strangers(tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<()> {
    for some in projects.chunks(AT_ONCE) {
        let some: Vec<i64> = some.iter().map(|project| project.0).collect();
        for (records, rules, key) in TABLES {
            let there = format!(
                "SELECT 1 FROM {rules} r JOIN project_access a ON a.project_id = r.project_id \
                 WHERE r.id = {records}.{key} AND a.user_id = {records}.user_id AND a.access_level > 0"
            );
            forget(
                tx,
                (records, rules, key),
                &some,
                &format!("user_id IS NOT NULL AND NOT EXISTS ({there})"),
            )?;
        }
    }
    Ok(())
}

/// Takes away the records in a project that name a group.
pub fn forget_group(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<()> {
    for table in TABLES {
        forget(tx, table, &[project.0], &format!("group_id = {group}"))?;
    }
    Ok(())
}

fn numbers(ids: &[i64]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn forget(
    tx: &mut Tx<'_>,
    (records, rules, key): (&str, &str, &str),
    projects: &[i64],
    which: &str,
) -> Result<()> {
    let inside =
        format!("SELECT r.id FROM {rules} r WHERE r.project_id IN ({})", numbers(projects));
    let text = format!("DELETE FROM {records} WHERE {key} IN ({inside}) AND {which}");
    each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Access level")))?;
    Ok(())
}
