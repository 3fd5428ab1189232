//! Members of projects and groups.

use kernel::Ts;
use org::{member::event::Fact, namespace::Namespace, user::User};
use serde_json::{Value, json};

use super::common::{ProjectContext, iso, role, shown_email, word};

/// A member of a project.
pub(crate) fn of_project(
    event: &str,
    context: &ProjectContext,
    user: &User,
    fact: &Fact,
    now: Ts,
) -> Value {
    let project = &context.project;
    json!({
        "created_at": iso(fact.created_at.unwrap_or(now)),
        "updated_at": iso(now),
        "event_name": event,
        "access_level": role(fact.access_level),
        "project_id": project.id,
        "project_name": project.name,
        "project_path": project.path,
        "project_path_with_namespace": project.full_path,
        "user_email": shown_email(user),
        "user_name": user.name,
        "user_username": user.username,
        "user_id": user.id,
        "project_visibility": word(project.visibility),
    })
}

/// A member of a group.
pub(crate) fn of_group(event: &str, group: &Namespace, user: &User, fact: &Fact, now: Ts) -> Value {
    json!({
        "created_at": iso(fact.created_at.unwrap_or(now)),
        "updated_at": iso(now),
        "group_name": group.name,
        "group_path": group.path,
        "group_id": group.id,
        "user_username": user.username,
        "user_name": user.name,
        "user_email": shown_email(user),
        "user_id": user.id,
        "group_access": role(fact.access_level),
        "group_plan": null,
        "expires_at": fact.expires_at.map(iso),
        "event_name": event,
    })
}
