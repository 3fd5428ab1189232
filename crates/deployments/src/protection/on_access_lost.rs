//! What becomes of records that let somebody deploy or approve, when they have nothing to do with the project or group any
//! more: whoever comes back is to be named again.

use db::{Tx, each_backend, error, schema::protected_environments as protected};
use diesel::{prelude::*, sql_query};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, UserId},
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

/// Has a deputy, who has a role in a project, approve instead of people without one: each rule of theirs is one more that
/// is asked, so one for each environment is the deputy's, unless the deputy is asked anyway.
/// The importer counts as one without a role where another one is the deputy.
pub fn appoint_deputy(
    tx: &mut Tx<'_>,
    project: ProjectId,
    deputy: UserId,
    importer: UserId,
) -> Result<()> {
    let text = format!(
        "UPDATE protected_environment_access SET user_id = {deputy} WHERE id IN \
         (SELECT MIN(CASE WHEN a.user_id IS NULL THEN u.id END) FROM protected_environment_access u \
         JOIN protected_environments r ON r.id = u.protected_environment_id \
         LEFT JOIN project_access a ON a.project_id = r.project_id AND a.user_id = u.user_id AND a.access_level > 0 \
         AND (a.user_id = {deputy} OR a.user_id <> {importer}) \
         WHERE r.project_id = {project} AND u.kind = 'approve' AND u.user_id IS NOT NULL GROUP BY r.id \
         HAVING COUNT(CASE WHEN u.user_id = {deputy} THEN 1 END) = 0)"
    );
    each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Access level")))?;
    Ok(())
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

#[cfg(test)]
mod tests {
    use db::testing::{rows, transaction};
    use kernel::AccessLevel::{Developer, Maintainer, Owner};

    use super::{appoint_deputy, forget_strangers};
    use crate::protection::{
        AccessRule,
        Holder::{self, Role, User},
        NewAccess, ProtectionHome, ProtectionStore as _,
        RuleKind::{Approve, Deploy},
    };

    #[test]
    fn a_deputy_is_asked_once_for_all_who_have_no_role() {
        transaction(|tx| {
            let [ada, bob, carol] =
                [rows::user(tx, "ada")?, rows::user(tx, "bob")?, rows::user(tx, "carol")?];
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, ada, "tea")?;
            rows::role(tx, ada, project, Owner)?;
            rows::role(tx, bob, project, Developer)?;
            let (home, stranger) = (ProtectionHome::Project(project), User(carol));
            for (name, kind, holders, left) in [
                ("a", Approve, vec![stranger, stranger], vec![User(ada)]),
                ("b", Approve, vec![User(bob), stranger], vec![User(bob), User(ada)]),
                ("c", Approve, vec![stranger, User(ada)], vec![User(ada)]),
                ("d", Approve, vec![Role(Maintainer)], vec![Role(Maintainer)]),
                ("e", Deploy, vec![stranger], vec![]),
            ] {
                let protected = tx.insert_protection(home, name, 0)?;
                for holder in holders {
                    let new = NewAccess { holder, with_inherited: false, required_approvals: 1 };
                    tx.insert_access(protected.id, kind, new)?;
                }

                appoint_deputy(tx, project, ada, carol)?;
                forget_strangers(tx, &[project])?;

                let found = tx.find_protection(home, name)?;
                let rules = found.iter().flat_map(|found| found.of(kind));
                let holders: Vec<Holder> = rules.map(AccessRule::holder).collect();
                assert_eq!(holders, left, "{name}");
            }
            Ok(())
        });
    }
}
