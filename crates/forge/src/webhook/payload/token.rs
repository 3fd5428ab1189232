//! Access tokens of projects and groups that stop working soon.

use kernel::time::date_text;
use org::{namespace::Namespace, token::AccessToken};
use serde_json::{Value, json};

use super::common::{ProjectContext, group_json, utc, utc_or_null};

const EVENT: &str = "expiring_access_token";

/// A token of a project.
pub(crate) fn of_project(context: &ProjectContext, token: &AccessToken) -> Value {
    json!({
        "object_kind": "access_token",
        "project": context.project_json(),
        "object_attributes": attributes(token),
        "event_name": EVENT,
    })
}

/// A token of a group.
pub(crate) fn of_group(group: &Namespace, token: &AccessToken) -> Value {
    json!({
        "object_kind": "access_token",
        "group": group_json(group),
        "object_attributes": attributes(token),
        "event_name": EVENT,
    })
}

fn attributes(token: &AccessToken) -> Value {
    json!({
        "user_id": token.user_id,
        "created_at": utc(token.created_at),
        "id": token.id,
        "name": token.name,
        "expires_at": token.expires_at.map(|end| date_text(end.date())),
        "last_used_at": utc_or_null(token.last_used_at),
    })
}
