//! What people did in a project or group, as feeds tell it.

use db::archive::{ArchiveRow, Column, Field, Relation};
use kernel::TextEnum as _;
use serde_json::Value;

use super::choices::{ITEM_KINDS, is_one_of, is_sha};
use crate::activity::{Action, PushDetails, WikiPageDetails};

/// Bytes of the details of one event: a commit may have a long title.
const LONGEST_DETAILS: usize = 4 << 20;
/// Events of targets without a row, as pages of a wiki, have a type and no id.
const TARGETS: &[(&str, &str)] = &[
    ("Issue", "issues"),
    ("MergeRequest", "merge_requests"),
    ("Milestone", "milestones"),
    ("Note", "notes"),
    ("DiffNote", "notes"),
    ("DiscussionNote", "notes"),
    ("CommitNote", "commit_notes"),
    ("Project", "projects"),
    ("WikiPage::Meta", "projects"),
];
const GROUP_TARGETS: &[(&str, &str)] =
    &[("Milestone", "milestones"), ("WikiPage::Meta", "projects")];

const AUTHOR: Column = Column::doer("author_id", "action", is_membership);
const ACTION: Column = Column::choice("action", is_one_of::<Action>);
const TARGET: Column = Column::new("target_id", Field::Item("target_type")).optional();
const NUMBER: Column = Column::count("target_iid").optional();
const TITLE: Column = Column::text("target_title").optional();
const DETAILS: Column = Column::choice("details", is_details).optional();

/// In one relation, since feeds have the order of its rows. What somebody did to an item or said of it is left out where
/// that is not there.
pub(super) static EVENTS: Relation = Relation {
    name: "events",
    table: "events",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        AUTHOR,
        ACTION,
        Column::new("target_type", Field::Kind(TARGETS)).optional(),
        TARGET,
        NUMBER,
        TITLE,
        Column::new("item_kind", Field::Kind(ITEM_KINDS)).optional(),
        Column::new("item_id", Field::Item("item_kind")).strict(),
        Column::row("note_id", "notes").strict(),
        DETAILS,
        Column::moment("created_at"),
    ],
    signed: None,
};

/// What is done in groups themselves: to milestones and wikis.
pub(super) static GROUP_EVENTS: Relation = Relation {
    name: "events",
    table: "events",
    scope: "namespace_id = $1",
    key: &["id"],
    columns: &[
        Column::home("namespace_id"),
        AUTHOR,
        ACTION,
        Column::new("target_type", Field::Kind(GROUP_TARGETS)).optional(),
        TARGET,
        NUMBER,
        TITLE,
        DETAILS,
        Column::moment("created_at"),
    ],
    signed: None,
};

/// The number of a note is its id, which is another one here.
pub(super) fn correct(row: &mut ArchiveRow) {
    let target = row.get("target_type").and_then(Value::as_str);
    if matches!(target, Some("Note" | "DiffNote" | "DiscussionNote" | "CommitNote")) {
        row.insert("target_iid".to_owned(), Value::Null);
    }
}

/// Nobody joins or leaves in the place of somebody else.
fn is_membership(word: &str) -> bool {
    let action = Action::find(word);
    matches!(action, Some(Action::Joined | Action::Left | Action::Expired))
}

/// Details are shown as they are stored, so they have the types that are written here.
fn is_details(text: &str) -> bool {
    text.len() <= LONGEST_DETAILS
        && (serde_json::from_str(text).is_ok_and(|push: PushDetails| is_push(&push))
            || serde_json::from_str::<WikiPageDetails>(text).is_ok())
}

fn is_push(push: &PushDetails) -> bool {
    let commits = [&push.commit_from, &push.commit_to];
    push.commit_count >= 0 && commits.into_iter().flatten().all(|sha| is_sha(sha))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::is_details;

    #[test]
    fn details_of_an_event_are_those_of_a_push_or_of_a_page() {
        let push = |change: (&str, Value)| {
            let mut push = json!({
                "commit_count": 1, "action": "pushed", "ref_type": "branch", "commit_from": null,
                "commit_to": "1".repeat(40), "ref": "main", "commit_title": "Tea", "ref_count": null,
            });
            push[change.0] = change.1;
            push.to_string()
        };
        let page = json!({ "format": "markdown", "slug": "home", "title": "home" }).to_string();
        for fits in [page, push(("ref", json!(null))), push(("ref_count", json!(3)))] {
            assert!(is_details(&fits), "{fits}");
        }
        for flawed in [
            "[]".to_owned(),
            json!({ "format": "markdown", "slug": {}, "title": "home" }).to_string(),
            push(("commit_count", json!("1"))),
            push(("commit_count", json!(-1))),
            push(("action", json!("burned"))),
            push(("commit_to", json!("main"))),
            push(("more", json!(1))),
        ] {
            assert!(!is_details(&flawed), "{flawed}");
        }
    }
}
