//! Issues.

use db::Tx;
use kernel::{
    Result,
    ids::{LabelId, UserId},
    time::date_text,
};
use review::{
    event::{Change, EarlierValues},
    issue::{Issue, IssueState, IssueType},
    item::{
        ItemKind, ItemStore as _,
        edit::{LastEdit, last_edit},
    },
    label::{Label, LabelStore as _},
};
use serde_json::{Map, Value, json};

use super::common::{
    People, ProjectContext, all_new, bool_value, change, human_time, ids_of, label_json,
    moment_value, number_value, utc, utc_or_null, with_absolute_pictures, word,
};

/// Attributes of which changes are told.
const OWN: [&str; 21] = [
    "author_id",
    "closed_at",
    "confidential",
    "created_at",
    "description",
    "discussion_locked",
    "due_date",
    "id",
    "iid",
    "last_edited_at",
    "last_edited_by_id",
    "milestone_id",
    "moved_to_id",
    "duplicated_to_id",
    "project_id",
    "relative_position",
    "state_id",
    "time_estimate",
    "title",
    "updated_at",
    "updated_by_id",
];
/// Changes that are told of issues and merge requests besides their own attributes.
pub(super) const BESIDE: [&str; 8] = [
    "weight",
    "assignees",
    "labels",
    "reviewers",
    "total_time_spent",
    "time_change",
    "severity",
    "escalation_status",
];

/// An issue with its labels and people.
#[derive(Debug)]
pub(crate) struct IssuePart {
    pub(crate) issue: Issue,
    pub(super) labels: Vec<Label>,
    pub(super) assignees: Vec<UserId>,
    edit: LastEdit,
}

impl IssuePart {
    pub(crate) fn load(tx: &mut Tx<'_>, issue: Issue) -> Result<Self> {
        let id = issue.id.0;
        let labels = tx.labels_of(ItemKind::Issue, &[id])?.remove(&id).unwrap_or_default();
        let assignees = tx.assignees_of(ItemKind::Issue, &[id])?.remove(&id).unwrap_or_default();
        let edit = last_edit(tx, issue.id.into())?;
        Ok(Self { issue, labels, assignees, edit })
    }

    pub(super) fn labels_json(&self) -> Vec<Value> {
        self.labels.iter().map(label_json).collect()
    }

    /// The attributes themselves.
    pub(super) fn attributes(&self, context: &ProjectContext) -> Value {
        let issue = &self.issue;
        let state_id = if issue.state == IssueState::Opened { 1 } else { 2 };
        let mut all = json!({
            "author_id": issue.author_id,
            "closed_at": utc_or_null(issue.closed_at),
            "confidential": issue.confidential,
            "created_at": utc(issue.created_at),
            "description": described(context, issue.description.as_deref()),
            "discussion_locked": issue.discussion_locked,
            "due_date": issue.due_date.map(|day| date_text(day.date())),
            "id": issue.id,
            "iid": issue.iid,
            "last_edited_at": utc_or_null(self.edit.edited_at),
            "last_edited_by_id": self.edit.edited_by,
            "milestone_id": issue.milestone_id,
            "moved_to_id": issue.moved_to_id,
            "duplicated_to_id": issue.duplicated_to_id,
            "project_id": issue.project_id,
            "relative_position": issue.relative_position,
            "state_id": state_id,
            "time_estimate": issue.time_estimate,
            "title": issue.title,
            "updated_at": utc(issue.updated_at),
            "updated_by_id": self.edit.updated_by,
            "weight": issue.weight,
            "type": kind(issue.issue_type),
            "url": context.at(&format!("issues/{}", issue.iid)),
            "total_time_spent": issue.total_time_spent,
            "time_change": 0,
            "human_total_time_spent": human_time(issue.total_time_spent),
            "human_time_change": null,
            "human_time_estimate": human_time(issue.time_estimate),
            "assignee_ids": self.assignees,
            "assignee_id": self.assignees.first(),
            "labels": self.labels_json(),
            "state": word(issue.state),
            "severity": word(issue.shown_severity()),
            "customer_relations_contacts": [],
        });
        if issue.issue_type == IssueType::Incident {
            all["escalation_status"] = Value::Null;
            all["escalation_policy"] = Value::Null;
        }
        all
    }
}

/// A description, with whole addresses of its pictures.
pub(super) fn described(context: &ProjectContext, text: Option<&str>) -> Option<String> {
    text.map(|text| with_absolute_pictures(context, text))
}

fn kind(of: IssueType) -> &'static str {
    match of {
        IssueType::Issue => "Issue",
        IssueType::Incident => "Incident",
        IssueType::TestCase => "Test Case",
    }
}

/// The action of an issue event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IssueAction<'a> {
    Open,
    Update(&'a [Change]),
    Close,
    Reopen,
    /// Somebody tries a webhook out.
    Trial,
}

impl IssueAction<'_> {
    fn action(self) -> Option<&'static str> {
        match self {
            Self::Open => Some("open"),
            Self::Update(_) => Some("update"),
            Self::Close => Some("close"),
            Self::Reopen => Some("reopen"),
            Self::Trial => None,
        }
    }
}

pub(crate) fn issue(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    part: &IssuePart,
    user: UserId,
    (deed, earlier): (IssueAction<'_>, &EarlierValues),
) -> Result<Value> {
    let changes = match deed {
        IssueAction::Update(changes) => changes,
        _ => &[],
    };
    let mut ids = vec![user];
    ids.extend(&part.assignees);
    ids.extend(people_in(changes));
    let people = People::load(tx, &ids)?;
    let mut attributes = part.attributes(context);
    tell_time(&mut attributes, changes);
    let told = [&OWN[..], &BESIDE].concat();
    let mut changed = match deed {
        IssueAction::Open => all_new(&attributes, &[&OWN[..], &["weight"]].concat()),
        IssueAction::Update(changes) => changes_json(tx, context, &people, (changes, &told))?,
        IssueAction::Close => state_change((1, 2), earlier, &attributes),
        IssueAction::Reopen => state_change((2, 1), earlier, &attributes),
        IssueAction::Trial => Map::new(),
    };
    changed.extend(changes_json(tx, context, &people, (&earlier.implied, &told))?);
    if earlier.updated_at.is_some() {
        let before = utc_or_null(earlier.updated_at);
        insert_change(&mut changed, "updated_at", &before, &attributes["updated_at"]);
    }
    if let Some(action) = deed.action() {
        attributes["action"] = json!(action);
    }
    let confidential = part.issue.confidential;
    let mut payload = json!({
        "object_kind": "issue",
        "event_type": if confidential { "confidential_issue" } else { "issue" },
        "user": people.json(context.urls(), Some(user)),
        "project": context.project_json(),
        "object_attributes": attributes,
        "labels": part.labels_json(),
        "changes": changed,
        "repository": context.short_repository(),
    });
    if !part.assignees.is_empty() {
        payload["assignees"] = json!(people.all(context.urls(), &part.assignees));
        payload["assignee"] = people.json(context.urls(), part.assignees.first().copied());
    }
    Ok(payload)
}

/// Notes a change, where it is one.
pub(super) fn insert_change(
    all: &mut Map<String, Value>,
    name: &str,
    before: &Value,
    after: &Value,
) {
    if before != after {
        all.insert(name.to_owned(), change(before, after));
    }
}

fn state_change(
    (from, to): (i64, i64),
    earlier: &EarlierValues,
    attributes: &Value,
) -> Map<String, Value> {
    let mut changes = Map::new();
    let closed_at = utc_or_null(earlier.closed_at);
    insert_change(&mut changes, "closed_at", &closed_at, &attributes["closed_at"]);
    insert_change(&mut changes, "state_id", &json!(from), &json!(to));
    changes
}

/// Everybody whom changes of people name.
pub(super) fn people_in(changes: &[Change]) -> Vec<UserId> {
    let named = changes.iter().filter(|one| matches!(one.field, "assignees" | "reviewers"));
    let ids = named.flat_map(|one| [ids_of(one.before.as_deref()), ids_of(one.after.as_deref())]);
    ids.flatten().map(UserId).collect()
}

/// Notes by how much the time grew that somebody has spent just now.
pub(super) fn tell_time(attributes: &mut Value, changes: &[Change]) {
    let change = changes.iter().find(|one| one.field == "time_change");
    let seconds = change.and_then(|one| one.after.as_deref()?.parse().ok());
    if let Some(seconds) = seconds {
        attributes["time_change"] = json!(seconds);
        attributes["human_time_change"] = human_time(seconds);
    }
}

/// Changes of what is told, with the records that they name.
pub(super) fn changes_json(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    people: &People,
    (changes, told): (&[Change], &[&str]),
) -> Result<Map<String, Value>> {
    let mut all = Map::new();
    for one in changes.iter().filter(|one| told.contains(&one.field)) {
        let (before, after) = (one.before.as_deref(), one.after.as_deref());
        let (before, after) = match one.field {
            "labels" => (labels(tx, before)?, labels(tx, after)?),
            "assignees" | "reviewers" => {
                let named = |text| {
                    let mut ids: Vec<UserId> = ids_of(text).into_iter().map(UserId).collect();
                    // The order that items have them in.
                    ids.sort_unstable();
                    json!(people.all(context.urls(), &ids))
                };
                (named(before), named(after))
            }
            "time_estimate" | "total_time_spent" | "time_change" => {
                (number_value(before), number_value(after))
            }
            field if field.ends_with("_id") || matches!(field, "iid" | "weight") => {
                (number_value(before), number_value(after))
            }
            "blocking_discussions_resolved"
            | "confidential"
            | "discussion_locked"
            | "draft"
            | "merge_when_pipeline_succeeds" => (bool_value(before), bool_value(after)),
            "last_edited_at" => (moment_value(before), moment_value(after)),
            "description" => (json!(described(context, before)), json!(described(context, after))),
            _ => (json!(before), json!(after)),
        };
        all.insert(one.field.to_owned(), change(&before, &after));
    }
    Ok(all)
}

fn labels(tx: &mut Tx<'_>, ids: Option<&str>) -> Result<Value> {
    let ids: Vec<LabelId> = ids_of(ids).into_iter().map(LabelId).collect();
    let found = tx.labels_by_id(&ids)?;
    Ok(json!(found.iter().map(label_json).collect::<Vec<_>>()))
}
