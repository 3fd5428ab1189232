//! What becomes of records that let somebody past the protection of branches and tags, when they have nothing to do with
//! the project any more: whoever comes back is to be named again.

use db::{Tx, each_backend, error};
use diesel::{RunQueryDsl, sql_query};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, UserId},
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

/// Has a deputy, who has a role in a project, unprotect the branches there that only people without one might: where nobody
/// is named, every Maintainer may. Records of the other kinds need no deputy, since nobody does anything without one.
/// The importer counts as one without a role where another one is the deputy.
pub fn appoint_deputy(
    tx: &mut Tx<'_>,
    project: ProjectId,
    deputy: UserId,
    importer: UserId,
) -> Result<()> {
    let text = format!(
        "UPDATE protected_branch_access SET user_id = {deputy} WHERE id IN \
         (SELECT MIN(u.id) FROM protected_branch_access u \
         JOIN protected_branches r ON r.id = u.protected_branch_id \
         LEFT JOIN project_access a ON a.project_id = r.project_id AND a.user_id = u.user_id AND a.access_level > 0 \
         AND (a.user_id = {deputy} OR a.user_id <> {importer}) \
         WHERE r.project_id = {project} AND u.kind = 'unprotect' GROUP BY r.id \
         HAVING COUNT(CASE WHEN u.user_id IS NULL OR a.user_id IS NOT NULL THEN 1 END) = 0)"
    );
    each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Access level")))?;
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

#[cfg(test)]
mod tests {
    use db::testing::{rows, transaction};
    use kernel::AccessLevel::{Developer, Maintainer, Owner};

    use super::{appoint_deputy, forget_strangers};
    use crate::protection::{
        AccessKind::{Push, Unprotect},
        BranchRule, BranchRuleStore as _,
        Holder::{Role, User},
        rule_store::NewBranchRule,
    };

    #[test]
    fn a_deputy_unprotects_where_nobody_with_a_role_would() {
        transaction(|tx| {
            let [ada, bob, carol] =
                [rows::user(tx, "ada")?, rows::user(tx, "bob")?, rows::user(tx, "carol")?];
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, ada, "tea")?;
            rows::role(tx, ada, project, Owner)?;
            rows::role(tx, bob, project, Developer)?;
            for (name, kind, holders) in [
                ("a", Unprotect, [User(carol), User(carol)]),
                ("b", Unprotect, [User(carol), User(bob)]),
                ("c", Unprotect, [User(carol), Role(Maintainer)]),
                ("d", Push, [User(carol), User(carol)]),
            ] {
                let (allow_force_push, code_owner_approval_required) = (false, false);
                let (project_id, name) = (project, name.to_owned());
                let new = NewBranchRule {
                    project_id,
                    name,
                    allow_force_push,
                    code_owner_approval_required,
                };
                let rule = tx.insert_branch_rule(&new)?;
                for holder in holders {
                    tx.insert_branch_access(rule.id, kind, holder)?;
                }
            }

            appoint_deputy(tx, project, ada, carol)?;
            forget_strangers(tx, &[project])?;

            let rules = tx.branch_rules(project)?;
            let holders =
                |rule: &BranchRule| rule.records().map(|one| one.holder).collect::<Vec<_>>();
            let left: Vec<_> = rules.iter().map(holders).collect();
            assert_eq!(left, [vec![User(ada)], vec![User(bob)], vec![Role(Maintainer)], vec![]]);
            Ok(())
        });
    }
}
