//! What becomes of records that let somebody deploy or approve, when they have nothing to do with the project or group any
//! more: whoever comes back is to be named again.

use db::{Tx, each_backend, error, schema::protected_environments as protected};
use diesel::{prelude::*, sql_query};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};

/// Databases take only so many values in one question.
const AT_ONCE: usize = 5_000;

/// Takes away the records in these projects that name people without a role there.
pub fn forget_strangers(tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<()> {
    let ids: Vec<i64> = projects.iter().map(|project| project.0).collect();
    forget_people(tx, "project_id", &ids, "project_access a ON a.project_id = r.project_id")
}

/// The same for what groups protect in all of their projects.
pub fn forget_strangers_of_groups(tx: &mut Tx<'_>, groups: &[NamespaceId]) -> Result<()> {
    let ids: Vec<i64> = groups.iter().map(|group| group.0).collect();
    forget_people(tx, "group_id", &ids, "namespace_access a ON a.namespace_id = r.group_id")
}

/// Takes away the records in a project that name a group.
pub fn forget_group(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<()> {
    forget(tx, "project_id", &[project.0], &format!("group_id = {group}"))
}

/// The groups that protect anything.
pub fn groups_with_protections(tx: &mut Tx<'_>) -> Result<Vec<NamespaceId>> {
    let groups = protected::table.select(protected::group_id.assume_not_null());
    let groups = groups.filter(protected::group_id.is_not_null()).distinct();
    each_backend!(tx, |conn| groups.load(conn).map_err(error("Protected environment")))
}

fn forget_people(tx: &mut Tx<'_>, home: &str, ids: &[i64], roles: &str) -> Result<()> {
    let there = format!(
        "SELECT 1 FROM protected_environments r JOIN {roles} \
         WHERE r.id = protected_environment_access.protected_environment_id \
         AND a.user_id = protected_environment_access.user_id AND a.access_level > 0"
    );
    forget(tx, home, ids, &format!("user_id IS NOT NULL AND NOT EXISTS ({there})"))
}

fn forget(tx: &mut Tx<'_>, home: &str, ids: &[i64], which: &str) -> Result<()> {
    for some in ids.chunks(AT_ONCE) {
        let some: Vec<String> = some.iter().map(ToString::to_string).collect();
        let text = format!(
            "DELETE FROM protected_environment_access WHERE protected_environment_id IN \
             (SELECT r.id FROM protected_environments r WHERE r.{home} IN ({})) AND {which}",
            some.join(", ")
        );
        each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Access level")))?;
    }
    Ok(())
}
