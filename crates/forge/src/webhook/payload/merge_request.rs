//! Merge requests.

use ci::pipeline::PipelineStore as _;
use db::Tx;
use kernel::{AccessLevel, Actor, Result, ids::UserId};
use org::access::level_in_project;
use review::{
    event::{Change, EarlierValues},
    item::{
        ItemKind, ItemStore as _,
        edit::{LastEdit, last_edit},
    },
    label::Label,
    merge_request::{
        MergeRequest, MergeRequestState, MergeRequestStore as _, MergeStatus, ReviewerStore as _,
    },
};
use serde_json::{Map, Value, json};

use super::{
    common::{
        People, ProjectContext, all_new, bool_value, human_time, label_json, utc, utc_or_null, word,
    },
    issue::{BESIDE, changes_json, described, insert_change, people_in, tell_time},
};

/// Attributes of which changes are told.
const OWN: [&str; 28] = [
    "id",
    "iid",
    "target_branch",
    "source_branch",
    "source_project_id",
    "target_project_id",
    "author_id",
    "assignee_id",
    "title",
    "description",
    "created_at",
    "updated_at",
    "milestone_id",
    "state_id",
    "blocking_discussions_resolved",
    "draft",
    "last_edited_at",
    "last_edited_by_id",
    "updated_by_id",
    "merge_params",
    "time_estimate",
    "prepared_at",
    "merge_status",
    "merge_commit_sha",
    "merge_error",
    "merge_user_id",
    "merge_when_pipeline_succeeds",
    "head_pipeline_id",
];

/// A merge request with its labels and people.
#[derive(Debug)]
pub(crate) struct MergeRequestPart {
    pub(crate) row: MergeRequest,
    labels: Vec<Label>,
    assignees: Vec<UserId>,
    reviewers: Vec<UserId>,
    source: Option<ProjectContext>,
    head_pipeline: Option<i64>,
    edit: LastEdit,
    is_first_contribution: bool,
}

impl MergeRequestPart {
    pub(crate) fn load(
        tx: &mut Tx<'_>,
        context: &ProjectContext,
        row: MergeRequest,
    ) -> Result<Self> {
        let (id, kind) = (row.id.0, ItemKind::MergeRequest);
        let labels = tx.labels_of(kind, &[id])?.remove(&id).unwrap_or_default();
        let assignees = tx.assignees_of(kind, &[id])?.remove(&id).unwrap_or_default();
        let reviewers = tx.reviewers_of(&[row.id])?.remove(&row.id).unwrap_or_default();
        let source = match row.source_project_id {
            Some(source) if source != row.project_id => {
                ProjectContext::load(tx, context.urls(), source)?
            }
            Some(_) => Some(context.clone()),
            None => None,
        };
        let head_pipeline = match &row.head_sha {
            Some(sha) => {
                tx.newest_pipeline(row.source_project_id.unwrap_or(row.project_id), sha)?
            }
            None => None,
        };
        Ok(Self {
            labels,
            assignees,
            reviewers: reviewers.into_iter().map(|one| one.user_id).collect(),
            source,
            head_pipeline: head_pipeline.map(|pipeline| pipeline.id.0),
            edit: last_edit(tx, row.id.into())?,
            is_first_contribution: is_first_contribution(tx, &row)?,
            row,
        })
    }

    pub(super) fn labels_json(&self) -> Vec<Value> {
        self.labels.iter().map(label_json).collect()
    }

    /// The attributes themselves. The last commit is added when it was read.
    pub(super) fn attributes(&self, context: &ProjectContext) -> Value {
        let row = &self.row;
        let mut all = self.identity(context);
        let more = json!({
            "merge_commit_sha": row.merge_commit_sha,
            "merge_error": row.merge_error,
            "merge_user_id": row.merge_user_id,
            "merge_when_pipeline_succeeds": row.auto_merge.is_some(),
            "head_pipeline_id": self.head_pipeline,
            "url": context.at(&format!("merge_requests/{}", row.iid)),
            "source": self.source.as_ref().map(ProjectContext::project_json),
            "target": context.project_json(),
            "last_commit": null,
            "labels": self.labels_json(),
            "total_time_spent": row.total_time_spent,
            "time_change": 0,
            "human_total_time_spent": human_time(row.total_time_spent),
            "human_time_change": null,
            "human_time_estimate": human_time(row.time_estimate),
        });
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
        all
    }

    fn identity(&self, context: &ProjectContext) -> Value {
        let row = &self.row;
        let (status, detailed) = status(row);
        json!({
            "id": row.id,
            "iid": row.iid,
            "target_branch": row.target_branch,
            "source_branch": row.source_branch,
            "source_project_id": row.source_project_id,
            "target_project_id": row.project_id,
            "author_id": row.author_id,
            "assignee_ids": self.assignees,
            "assignee_id": self.assignees.first(),
            "reviewer_ids": self.reviewers,
            "title": row.title,
            "description": described(context, row.description.as_deref()),
            "created_at": utc(row.created_at),
            "updated_at": utc(row.updated_at),
            "milestone_id": row.milestone_id,
            "state": word(row.state),
            "state_id": state_id(row.state),
            "blocking_discussions_resolved": row.unresolved_threads == 0,
            "work_in_progress": row.draft,
            "draft": row.draft,
            "first_contribution": self.is_first_contribution,
            "last_edited_at": utc_or_null(self.edit.edited_at),
            "last_edited_by_id": self.edit.edited_by,
            "updated_by_id": self.edit.updated_by,
            "merge_params": merge_params(&json!(row.force_remove_source_branch)),
            "time_estimate": row.time_estimate,
            "prepared_at": utc(row.created_at),
            "merge_status": status,
            "detailed_merge_status": detailed,
        })
    }

    /// As pipelines name it.
    pub(super) fn brief(&self, context: &ProjectContext) -> Value {
        let row = &self.row;
        let (status, detailed) = status(row);
        json!({
            "id": row.id,
            "iid": row.iid,
            "title": row.title,
            "source_branch": row.source_branch,
            "source_project_id": row.source_project_id,
            "target_branch": row.target_branch,
            "target_project_id": row.project_id,
            "state": word(row.state),
            "merge_status": status,
            "detailed_merge_status": detailed,
            "url": context.at(&format!("merge_requests/{}", row.iid)),
        })
    }
}

/// Whether its author is no member of the project and never had anything merged there.
fn is_first_contribution(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<bool> {
    if row.state == MergeRequestState::Merged {
        return Ok(false);
    }
    let author = Actor { id: Some(row.author_id), ..Actor::ANONYMOUS };
    let level = level_in_project(tx, author, row.project_id)?;
    Ok(level == AccessLevel::NoAccess && !tx.has_merged_into(row.project_id, row.author_id)?)
}

fn state_id(state: MergeRequestState) -> i64 {
    match state {
        MergeRequestState::Opened => 1,
        MergeRequestState::Closed => 2,
        MergeRequestState::Merged => 3,
        MergeRequestState::Locked => 4,
    }
}

fn status(row: &MergeRequest) -> (&'static str, &'static str) {
    let status = row.known_merge_status();
    let detailed = match (row.state, status) {
        (state, _) if state != MergeRequestState::Opened => "not_open",
        _ if row.draft => "draft_status",
        (_, MergeStatus::CanBeMerged) => "mergeable",
        (_, MergeStatus::CannotBeMerged) => "conflict",
        (_, MergeStatus::Checking) => "checking",
        (_, MergeStatus::Unchecked | MergeStatus::CannotBeMergedRecheck) => "unchecked",
    };
    (word(status), detailed)
}

fn merge_params(removes_source: &Value) -> Value {
    json!({ "force_remove_source_branch": removes_source })
}

/// The action of a merge request event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MergeRequestAction<'a> {
    Open,
    Update(&'a [Change]),
    /// Commits were pushed to its source branch.
    Push {
        before: Option<&'a str>,
    },
    Step(&'static str),
    Trial,
}

pub(crate) fn merge_request(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    part: &MergeRequestPart,
    user: Option<UserId>,
    (deed, earlier): (MergeRequestAction<'_>, &EarlierValues),
) -> Result<Value> {
    let changes = match deed {
        MergeRequestAction::Update(changes) => changes,
        _ => &[],
    };
    let mut ids: Vec<UserId> = user.into_iter().chain(people_in(changes)).collect();
    ids.extend(part.assignees.iter().chain(&part.reviewers));
    let people = People::load(tx, &ids)?;
    let mut attributes = part.attributes(context);
    tell_time(&mut attributes, changes);
    let told = [&OWN[..], &BESIDE].concat();
    let mut changed = match deed {
        MergeRequestAction::Open => all_new(&attributes, &OWN),
        MergeRequestAction::Update(changes) => {
            changes_json(tx, context, &people, (changes, &told))?
        }
        MergeRequestAction::Push { .. }
        | MergeRequestAction::Step(_)
        | MergeRequestAction::Trial => Map::new(),
    };
    if let Some(one) = changes.iter().find(|one| one.field == "force_remove_source_branch") {
        let params = |text: Option<&str>| merge_params(&bool_value(text));
        let (before, after) = (params(one.before.as_deref()), params(one.after.as_deref()));
        insert_change(&mut changed, "merge_params", &before, &after);
    }
    if let Some((from, to)) = moved(deed) {
        insert_change(&mut changed, "state_id", &json!(from), &json!(to));
    }
    changed.extend(changes_json(tx, context, &people, (&earlier.implied, &told))?);
    if earlier.updated_at.is_some() {
        let before = utc_or_null(earlier.updated_at);
        insert_change(&mut changed, "updated_at", &before, &attributes["updated_at"]);
    }
    let action = match deed {
        MergeRequestAction::Open => Some("open"),
        MergeRequestAction::Update(_) | MergeRequestAction::Push { .. } => Some("update"),
        MergeRequestAction::Step(action) => Some(action),
        MergeRequestAction::Trial => None,
    };
    if let Some(action) = action {
        attributes["action"] = json!(action);
    }
    if let MergeRequestAction::Push { before: Some(before) } = deed {
        attributes["oldrev"] = json!(before);
    }
    let mut payload = json!({
        "object_kind": "merge_request",
        "event_type": "merge_request",
        "user": people.json(context.urls(), user),
        "project": context.project_json(),
        "object_attributes": attributes,
        "labels": part.labels_json(),
        "changes": changed,
        "repository": context.short_repository(),
    });
    for (name, ids) in [("assignees", &part.assignees), ("reviewers", &part.reviewers)] {
        if !ids.is_empty() {
            payload[name] = json!(people.all(context.urls(), ids));
        }
    }
    Ok(payload)
}

fn moved(deed: MergeRequestAction<'_>) -> Option<(i64, i64)> {
    match deed {
        MergeRequestAction::Step("close") => Some((1, 2)),
        MergeRequestAction::Step("reopen") => Some((2, 1)),
        MergeRequestAction::Step("merge") => Some((1, 3)),
        _ => None,
    }
}
