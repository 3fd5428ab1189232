//! Branches and tags that moved.

use org::user::User;
use repo::event::MovedRef;
use serde_json::{Map, Value, json};

use super::common::{ProjectContext, picture};

const NOTHING: &str = "0000000000000000000000000000000000000000";

/// What a push option's text says, as a tree: `ci.skip` is `{"ci":{"skip":true}}`.
fn options_json(options: &[String]) -> Value {
    let mut all = Map::new();
    // Variables may be secret.
    for option in options.iter().filter(|option| !option.starts_with("ci.variable")) {
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, json!(value)),
            None => (option.as_str(), json!(true)),
        };
        match key.split_once('.') {
            Some((head, tail)) => {
                let inner = all.entry(head.to_owned()).or_insert_with(|| json!({}));
                if let Some(inner) = inner.as_object_mut() {
                    inner.insert(tail.to_owned(), value);
                }
            }
            None => drop(all.insert(key.to_owned(), value)),
        }
    }
    Value::Object(all)
}

/// A branch or tag that moved. Commits, and the text of a tag, are added when they were read.
pub(crate) fn push(
    context: &ProjectContext,
    user: Option<&User>,
    moved: &MovedRef,
    options: &[String],
) -> Value {
    let is_tag = moved.name.starts_with("refs/tags/");
    let kind = if is_tag { "tag_push" } else { "push" };
    let urls = context.urls();
    json!({
        "object_kind": kind,
        "event_name": kind,
        "before": moved.before.as_deref().unwrap_or(NOTHING),
        "after": moved.after.as_deref().unwrap_or(NOTHING),
        "ref": moved.name,
        "checkout_sha": moved.after,
        "message": null,
        "user_id": user.map(|user| user.id),
        "user_name": user.map(|user| &user.name),
        "user_username": user.map(|user| &user.username),
        "user_email": user.map(|user| user.public_email.clone().unwrap_or_default()),
        "user_avatar": user.and_then(|user| picture(urls, user)),
        "project_id": context.project.id,
        "project": context.project_json(),
        "commits": [],
        "total_commits_count": moved.commit_count,
        "push_options": options_json(options),
        "repository": context.repository(),
    })
}

/// All that a push moved, for system hooks. Unlike other events that have a name alone, and like a push, it has no times.
pub(crate) fn repository_update(
    context: &ProjectContext,
    user: Option<&User>,
    moves: &[MovedRef],
) -> Value {
    let changes: Vec<Value> = moves
        .iter()
        .map(|moved| {
            json!({
                "before": moved.before.as_deref().unwrap_or(NOTHING),
                "after": moved.after.as_deref().unwrap_or(NOTHING),
                "ref": moved.name,
            })
        })
        .collect();
    let refs: Vec<&str> = moves.iter().map(|moved| moved.name.as_str()).collect();
    json!({
        "event_name": "repository_update",
        "user_id": user.map(|user| user.id),
        "user_name": user.map(|user| &user.name),
        "user_email": user.map(|user| &user.email),
        "user_avatar": user.and_then(|user| picture(context.urls(), user)),
        "project_id": context.project.id,
        "project": context.project_json(),
        "changes": changes,
        "refs": refs,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::options_json;

    #[test]
    fn options_are_a_tree_without_secrets() {
        let options = ["ci.skip", "ci.variable=\"K=V\"", "merge_request.title=A", "x"];
        let options = options.map(str::to_owned);
        let tree = json!({ "ci": { "skip": true }, "merge_request": { "title": "A" }, "x": true });
        assert_eq!(options_json(&options), tree);
    }
}
