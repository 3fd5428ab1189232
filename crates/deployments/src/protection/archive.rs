//! What archives of projects hold of protected environments. Groups that rules name are not of the project, and are left
//! out.

use db::archive::{Column, Relation, is_one_of};

use super::{RuleKind, actions::MOST_APPROVALS};

pub static RELATIONS: &[&Relation] = &[&PROTECTIONS, &ROLES, &PEOPLE];

const PROTECTION: Column = Column::row("protected_environment_id", "protected_environments");
const KIND: Column = Column::choice("kind", is_one_of::<RuleKind>);
const APPROVALS: Column = Column::number("required_approvals", 1, MOST_APPROVALS);
const WITH_INHERITED: Column = Column::flag("with_inherited");

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

static ROLES: Relation = Relation {
    name: "protected_environment_roles",
    table: "protected_environment_access",
    scope: "protected_environment_id IN (SELECT protected_environments.id FROM protected_environments \
        WHERE protected_environments.project_id = $1) AND access_level IS NOT NULL",
    key: &["id"],
    columns: &[PROTECTION, KIND, Column::level("access_level", 10, 60), WITH_INHERITED, APPROVALS],
    signed: None,
};

static PEOPLE: Relation = Relation {
    name: "protected_environment_people",
    table: "protected_environment_access",
    scope: "protected_environment_id IN (SELECT protected_environments.id FROM protected_environments \
        WHERE protected_environments.project_id = $1) AND user_id IS NOT NULL",
    key: &["id"],
    columns: &[PROTECTION, KIND, Column::person("user_id"), WITH_INHERITED, APPROVALS],
    signed: None,
};
