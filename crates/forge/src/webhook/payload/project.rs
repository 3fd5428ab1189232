//! Projects, for system hooks and webhooks of groups.

use db::Tx;
use kernel::{Result, Ts};
use org::{
    hierarchy::group_chain,
    member::{Source, store::MemberStore as _},
    namespace::{owners::TreeOwners, store::NamespaceStore as _},
    project::Project,
    user::{User, store::UserStore as _},
};
use serde_json::{Value, json};

use super::common::{iso, shown_email, word};

/// Owners that a payload names.
const MOST_OWNERS: i64 = 100;

/// A project that is there, or goes.
pub(crate) fn project(
    tx: &mut Tx<'_>,
    project: &Project,
    event: &str,
    old_path: Option<&str>,
) -> Result<Value> {
    let owner = tx.find_user(project.creator_id)?;
    let owners = owners(tx, project)?;
    let owners: Vec<&User> = owners.iter().collect();
    let now = tx.now;
    Ok(record(project, event, (owner.as_ref(), &owners), (old_path, now)))
}

/// A project that goes with its namespace, whose owners were read before.
pub(crate) fn of_tree(project: &Project, owners: &TreeOwners, now: Ts) -> Value {
    let creator = owners.person(project.creator_id);
    let owners = owners.of_namespace(project.namespace_id);
    record(project, "project_destroy", (creator, &owners), (None, now))
}

/// What system hooks are told as webhooks of groups have it: with all owners alone.
pub(crate) fn for_groups(payload: &Value) -> Value {
    let all = payload.as_object().into_iter().flatten();
    let kept = all.filter(|(name, _)| !["owner_name", "owner_email"].contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Who owns it: whose namespace it lies in, or the owners of the nearest group that has any.
fn owners(tx: &mut Tx<'_>, project: &Project) -> Result<Vec<User>> {
    let Some(namespace) = tx.find_namespace(project.namespace_id)? else { return Ok(Vec::new()) };
    if let Some(owner) = namespace.owner_id {
        return Ok(tx.find_user(owner)?.into_iter().collect());
    }
    for group in group_chain(tx, namespace.id)? {
        let found = tx.managers(Source::Group(group), MOST_OWNERS)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

fn record(
    project: &Project,
    event: &str,
    (owner, owners): (Option<&User>, &[&User]),
    (old, now): (Option<&str>, Ts),
) -> Value {
    let (name, email) = (owner.map(|user| &user.name), owner.map(shown_email));
    let owners: Vec<Value> = owners
        .iter()
        .map(|user| json!({ "name": user.name, "email": shown_email(user) }))
        .collect();
    let mut payload = json!({
        "event_name": event,
        "created_at": iso(project.created_at),
        "updated_at": iso(now),
        "name": project.name,
        "path": project.path,
        "path_with_namespace": project.full_path,
        "project_id": project.id,
        "project_namespace_id": project.namespace_id,
        "owners": owners,
        "owner_name": name,
        "owner_email": email,
        "project_visibility": word(project.visibility),
    });
    if let Some(old) = old {
        payload["old_path_with_namespace"] = json!(old);
    }
    payload
}

/// An example, for who tries a system hook out.
pub(crate) fn example() -> Value {
    json!({
        "event_name": "project_create",
        "name": "Ruby",
        "path": "ruby",
        "project_id": 1,
        "owner_name": "Someone",
        "owner_email": "someone@example.com",
    })
}
