//! Removes approvers who have lost access to the project from its rules.

use db::{
    Tx, each_backend, error,
    schema::{approval_rule_groups as rule_groups, approval_rules as rules},
};
use diesel::{prelude::*, sql_query};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
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

/// Rules of a project name a group no more.
pub fn forget_group(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<()> {
    let inside = rules::table.filter(rules::project_id.eq(project)).select(rules::id);
    let gone = rule_groups::table
        .filter(rule_groups::rule_id.eq_any(inside))
        .filter(rule_groups::namespace_id.eq(group));
    each_backend!(tx, |conn| diesel::delete(gone).execute(conn).map_err(error("Approval rule")))?;
    Ok(())
}
