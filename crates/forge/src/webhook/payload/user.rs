//! Accounts, for system hooks.

use kernel::Ts;
use org::{key::ssh::SshKey, user::event::Event};
use serde_json::{Value, json};

use super::common::{iso, word};

/// What happened to an account; nothing for what nobody is told.
pub(crate) fn user(event: &Event, now: Ts) -> Option<(&'static str, Value)> {
    let (name, person) = match event {
        Event::UserCreate { person } => ("user_create", person),
        Event::UserRename { person, .. } => ("user_rename", person),
        Event::UserDestroy { person, .. } => ("user_destroy", person),
        Event::UserFailedLogin { person, .. } => ("user_failed_login", person),
        Event::UserApprove { .. } => return None,
    };
    let mut payload = json!({
        "event_name": name,
        "created_at": iso(person.created_at),
        "updated_at": iso(now),
        "name": person.name,
        "email": person.email,
        "user_id": person.user_id,
        "username": person.username,
    });
    match event {
        Event::UserRename { old_username, .. } => payload["old_username"] = json!(old_username),
        Event::UserFailedLogin { state, .. } => payload["state"] = json!(word(*state)),
        _ => {}
    }
    Some((name, payload))
}

/// An SSH key.
pub(crate) fn key(event: &str, key: &SshKey, username: &str, now: Ts) -> Value {
    json!({
        "event_name": event,
        "created_at": iso(key.created_at),
        "updated_at": iso(now),
        "username": username,
        "key": key.key,
        "id": key.id,
    })
}
