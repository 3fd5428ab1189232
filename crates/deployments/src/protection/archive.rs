//! What archives of projects hold of protected environments. Groups that rules name are not of the project: those that
//! approve are somebody who is nowhere known, and those that deploy are left out.

use db::archive::{Column, Relation, is_one_of};
use kernel::TextEnum as _;

use super::{RuleKind, actions::MOST_APPROVALS};

pub static RELATIONS: &[&Relation] = &[&PROTECTIONS, &ACCESS];

static PROTECTIONS: Relation = Relation {
    name: "protected_environments",
    table: "protected_environments",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::line("name"),
        Column::number("required_approval_count", 0, MOST_APPROVALS),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

/// Roles and people in one relation: an approval counts for the first rule that lets somebody approve. Where one person
/// stands for a group, no more than one can approve.
static ACCESS: Relation = Relation {
    name: "protected_environment_access",
    table: "protected_environment_access",
    scope: "protected_environment_id IN (SELECT protected_environments.id FROM protected_environments \
        WHERE protected_environments.project_id = $1) AND (group_id IS NULL OR kind = 'approve')",
    key: &["id"],
    columns: &[
        Column::row("protected_environment_id", "protected_environments"),
        Column::choice("kind", is_one_of::<RuleKind>),
        Column::level("access_level", 10, 60).optional(),
        // Without the rule of somebody who has no account here, nobody would be asked: whoever imports is instead.
        Column::doer("user_id", "kind", is_permission)
            .alternative_to("access_level")
            .or_zero()
            .read_as("CASE WHEN group_id IS NULL THEN user_id ELSE 0 END"),
        Column::flag("with_inherited")
            .read_as("CASE WHEN group_id IS NULL THEN with_inherited ELSE FALSE END"),
        Column::number("required_approvals", 1, MOST_APPROVALS)
            .read_as("CASE WHEN group_id IS NULL THEN required_approvals ELSE 1 END"),
    ],
    signed: None,
};

/// Whether a record gives something that nobody may do without one.
fn is_permission(kind: &str) -> bool {
    RuleKind::find(kind) != Some(RuleKind::Approve)
}
