//! Milestones.

use kernel::time::date_text;
use org::namespace::Namespace;
use review::milestone::event::Fact;
use serde_json::{Value, json};

use super::common::{ProjectContext, group_json, utc, word};

/// A milestone of a project.
pub(crate) fn of_project(context: &ProjectContext, fact: &Fact, action: &str) -> Value {
    json!({
        "object_kind": "milestone",
        "event_type": "milestone",
        "project": context.project_json(),
        "object_attributes": attributes(fact),
        "action": action,
    })
}

/// A milestone of a group.
pub(crate) fn of_group(group: &Namespace, fact: &Fact, action: &str) -> Value {
    json!({
        "object_kind": "milestone",
        "event_type": "milestone",
        "project": null,
        "group": group_json(group),
        "object_attributes": attributes(fact),
        "action": action,
    })
}

fn attributes(fact: &Fact) -> Value {
    json!({
        "id": fact.milestone,
        "iid": fact.iid,
        "title": fact.title,
        "description": fact.description,
        "state": word(fact.state),
        "created_at": utc(fact.created_at),
        "updated_at": utc(fact.updated_at),
        "due_date": fact.due_date.map(|day| date_text(day.date())),
        "start_date": fact.start_date.map(|day| date_text(day.date())),
        "group_id": fact.group,
        "project_id": fact.project,
    })
}
