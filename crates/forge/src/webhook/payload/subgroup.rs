//! Groups, and groups in them.

use kernel::Ts;
use org::namespace::event::NamespacePath;
use serde_json::{Value, json};

use super::common::iso;

/// A group in another one.
pub(crate) fn subgroup(
    event: &str,
    group: &NamespacePath,
    parent: &NamespacePath,
    now: Ts,
) -> Value {
    json!({
        "created_at": iso(group.created_at),
        "updated_at": iso(now),
        "event_name": event,
        "name": group.name,
        "path": group.path,
        "full_path": group.full_path,
        "group_id": group.group_id,
        "parent_group_id": parent.group_id,
        "parent_name": parent.name,
        "parent_path": parent.path,
        "parent_full_path": parent.full_path,
    })
}

/// A group, for system hooks; with what it was called before, where that changed.
pub(crate) fn group(
    event: &str,
    group: &NamespacePath,
    old: Option<(&str, &str)>,
    now: Ts,
) -> Value {
    let mut payload = json!({
        "created_at": iso(group.created_at),
        "updated_at": iso(now),
        "event_name": event,
        "name": group.name,
        "path": group.path,
        "full_path": group.full_path,
        "group_id": group.group_id,
    });
    if let Some((path, full_path)) = old {
        payload["old_path"] = json!(path);
        payload["old_full_path"] = json!(full_path);
    }
    payload
}
