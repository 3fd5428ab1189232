//! Removes approvers who have lost access to the project, or never had any, from its rules.

use db::{
    Tx, each_backend, error,
    schema::{approval_rule_groups as rule_groups, approval_rules as rules},
};
use diesel::{prelude::*, sql_query};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, UserId},
};

use crate::item::reading::AT_ONCE;

/// Rules of these projects name people without a role there no more.
pub fn forget_strangers(tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<()> {
    for some in projects.chunks(AT_ONCE) {
        let some: Vec<String> = some.iter().map(ToString::to_string).collect();
        let text = format!(
            "DELETE FROM approval_rule_users \
             WHERE rule_id IN (SELECT r.id FROM approval_rules r WHERE r.project_id IN ({})) \
             AND NOT EXISTS (SELECT 1 FROM approval_rules r JOIN project_access a ON a.project_id = r.project_id \
             WHERE r.id = approval_rule_users.rule_id AND a.user_id = approval_rule_users.user_id \
             AND a.access_level > 0)",
            some.join(", ")
        );
        each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Approval rule")))?;
    }
    Ok(())
}

/// Rules of a project that name people without a role there name a deputy, too, who has one: without anybody, a rule would be
/// fulfilled, and with one person alone it would be for their own merge requests.
/// The importer counts as one without a role where another one is the deputy.
pub fn appoint_deputy(
    tx: &mut Tx<'_>,
    project: ProjectId,
    deputy: UserId,
    importer: UserId,
) -> Result<()> {
    let text = format!(
        "INSERT INTO approval_rule_users (rule_id, user_id) \
         SELECT u.rule_id, {deputy} FROM approval_rule_users u \
         JOIN approval_rules r ON r.id = u.rule_id \
         LEFT JOIN project_access a ON a.project_id = r.project_id AND a.user_id = u.user_id AND a.access_level > 0 \
         AND (a.user_id = {deputy} OR a.user_id <> {importer}) \
         WHERE r.project_id = {project} GROUP BY u.rule_id \
         HAVING COUNT(*) > COUNT(a.user_id) AND COUNT(CASE WHEN u.user_id = {deputy} THEN 1 END) = 0"
    );
    each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Approval rule")))?;
    Ok(())
}

/// Rules of a project name a group no more.
pub fn forget_group(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<()> {
    let inside = rules::table.filter(rules::project_id.eq(project)).select(rules::id);
    let gone = rule_groups::table
        .filter(rule_groups::rule_id.eq_any(inside))
        .filter(rule_groups::namespace_id.eq(group));
    each_backend!(tx, |conn| diesel::delete(gone).execute(conn).map_err(error("Approval rule")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use db::testing::{rows, transaction};
    use kernel::AccessLevel::{Developer, Owner};

    use super::{appoint_deputy, forget_strangers};
    use crate::approval::{RuleStore as _, RuleType, rule_fields::Details};

    #[test]
    fn a_deputy_approves_for_those_who_have_no_role() {
        transaction(|tx| {
            let [ada, bob, carol, dave] = [
                rows::user(tx, "ada")?,
                rows::user(tx, "bob")?,
                rows::user(tx, "carol")?,
                rows::user(tx, "dave")?,
            ];
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, ada, "tea")?;
            rows::role(tx, ada, project, Owner)?;
            rows::role(tx, bob, project, Developer)?;
            for users in [vec![carol, dave], vec![bob, carol], vec![ada, carol], Vec::new()] {
                let rule_type = RuleType::Regular;
                let details = Details { rule_type, users, ..Details::of_any(1) };
                tx.insert_rule(project, None, None, &details)?;
            }

            appoint_deputy(tx, project, ada, carol)?;
            forget_strangers(tx, &[project])?;

            let rules = tx.project_rules(project)?;
            let named: Vec<_> = rules.iter().map(|rule| rule.users.as_slice()).collect();
            assert_eq!(named, [&[ada][..], &[ada, bob], &[ada], &[]]);
            Ok(())
        });
    }
}
