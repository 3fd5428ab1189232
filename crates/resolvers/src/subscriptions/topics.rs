//! The topics of subscriptions.

use std::sync::Arc;

use graphql::{Arguments, Failure, Registry, Value, gid, number_of, parse_gid};
use kernel::ids::{IssueId, JobId, MergeRequestId, NoteId, PipelineId};
use review::item::{ItemId, ItemKind};

use super::fact::Fact;
use crate::{
    context::Context,
    pipelines,
    review::{epic, issue, merge_request, notes, scope, work_items},
};

/// Changes of issues, merge requests and epics: the subscription, and the fields of theirs whose new values it tells.
const CHANGES: &[(&str, &[&str])] = &[
    ("issuableAssigneesUpdated", &["assignees"]),
    (
        "issuableDatesUpdated",
        &[
            "due_date",
            "start_date",
            "start_date_fixed",
            "due_date_fixed",
            "start_date_is_fixed",
            "due_date_is_fixed",
        ],
    ),
    ("issuableDescriptionUpdated", &["description"]),
    ("issuableEpicUpdated", &["epic_id"]),
    ("issuableHealthStatusUpdated", &["health_status"]),
    ("issuableIterationUpdated", &["iteration_id"]),
    ("issuableLabelsUpdated", &["labels"]),
    ("issuableMilestoneUpdated", &["milestone_id"]),
    ("issuableTitleUpdated", &["title"]),
    ("issuableWeightUpdated", &["weight"]),
];

/// What the mergeability of a merge request follows from, beside its own fields.
const MERGEABILITY: &[&str] = &[
    "merge_request.approvals_reset",
    "merge_request.approved",
    "merge_request.moved",
    "merge_request.pushed",
    "merge_request.stepped",
    "merge_request.unapproved",
    "merge_request.updated",
];

const APPROVALS: &[&str] =
    &["merge_request.approvals_reset", "merge_request.approved", "merge_request.unapproved"];

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["DeletedNote"]);
    for &(name, fields) in CHANGES {
        registry.subscription(
            name,
            move |arguments, context| async move {
                let id = issuable(&arguments)?;
                ensure_shown(item(&context, &arguments).await?)?;
                Ok(move |fact: &Fact| is_changed(fact, id) && fact.changes(fields))
            },
            |_: Arc<Fact>, arguments, context| async move {
                Ok(shown(item(&context, &arguments).await?))
            },
        );
    }
    register_merge_requests(registry);
    register_notes(registry);
    register_pipelines(registry);
}

/// Something, unless the caller may not see it.
fn shown(value: Value) -> Option<Value> {
    (!value.is_null()).then_some(value)
}

/// # Errors
/// `NotFoundOrForbidden` for what the caller may not see.
fn ensure_shown(value: Value) -> Result<(), Failure> {
    shown(value).map(drop).ok_or(Failure::NotFoundOrForbidden)
}

/// The item that `issuableId` names.
fn issuable(arguments: &Arguments) -> Result<ItemId, Failure> {
    let text = arguments.text("issuableId")?;
    let (class, _) = parse_gid(&text)?;
    let kind = scope::kind_of(&class);
    let kind = kind.ok_or_else(|| {
        Failure::message(format!("\"{text}\" does not represent an instance of Issuable"))
    })?;
    Ok(ItemId { kind, id: number_of(&text, scope::ITEMS)? })
}

/// The item that `issuableId` names, as what it names it; null where the caller may not read it.
async fn item(context: &Context, arguments: &Arguments) -> Result<Value, Failure> {
    let id = issuable(arguments)?;
    let (class, _) = arguments.any_gid("issuableId")?;
    match id.kind {
        ItemKind::Issue if class == "WorkItem" => work_items::of_id(context, IssueId(id.id)).await,
        ItemKind::Issue => issue::of_id(context, IssueId(id.id)).await,
        ItemKind::MergeRequest => merge_request::of_id(context, MergeRequestId(id.id)).await,
        ItemKind::Epic => epic::of_id(context, id.id).await,
    }
}

fn is_changed(fact: &Fact, id: ItemId) -> bool {
    let (kind, path): (_, &[&str]) = match id.kind {
        ItemKind::Issue => ("issue.updated", &["issue", "id"]),
        ItemKind::MergeRequest => ("merge_request.updated", &["merge_request"]),
        ItemKind::Epic => ("epic.updated", &["epic", "id"]),
    };
    fact.is(kind) && fact.number(path) == Some(id.id)
}

/// Whether a fact is about a merge request.
fn is_about(fact: &Fact, id: MergeRequestId) -> bool {
    let direct = fact.number(&["merge_request"]);
    direct.or_else(|| fact.number(&["of", "merge_request"])) == Some(id.0)
}

fn merge_request_id(arguments: &Arguments) -> Result<MergeRequestId, Failure> {
    arguments.gid("issuableId", &["MergeRequest"]).map(MergeRequestId)
}

async fn merge_request(arguments: &Arguments, context: &Context) -> Result<Value, Failure> {
    merge_request::of_id(context, merge_request_id(arguments)?).await
}

fn register_merge_requests(registry: &mut Registry<Context>) {
    registry.subscription(
        "mergeRequestReviewersUpdated",
        |arguments, context| async move {
            ensure_shown(merge_request(&arguments, &context).await?)?;
            let id = merge_request_id(&arguments)?;
            Ok(move |fact: &Fact| {
                fact.is("merge_request.updated")
                    && is_about(fact, id)
                    && fact.changes(&["reviewers"])
            })
        },
        |_: Arc<Fact>, arguments, context| async move {
            Ok(shown(merge_request(&arguments, &context).await?))
        },
    );
    for (name, kinds) in [
        ("mergeRequestMergeStatusUpdated", MERGEABILITY),
        ("mergeRequestApprovalStateUpdated", APPROVALS),
    ] {
        registry.subscription(
            name,
            move |arguments, context| async move {
                ensure_shown(merge_request(&arguments, &context).await?)?;
                let id = merge_request_id(&arguments)?;
                Ok(move |fact: &Fact| kinds.iter().any(|kind| fact.is(kind)) && is_about(fact, id))
            },
            |_: Arc<Fact>, arguments, context| async move {
                Ok(shown(merge_request(&arguments, &context).await?))
            },
        );
    }
}

/// The item that `noteableId` names.
fn noteable(arguments: &Arguments) -> Result<ItemId, Failure> {
    let text = arguments.maybe_text("noteableId").ok_or(Failure::NotFoundOrForbidden)?;
    let (class, _) = parse_gid(&text)?;
    let kind = scope::kind_of(&class).ok_or(Failure::NotFoundOrForbidden)?;
    Ok(ItemId { kind, id: number_of(&text, scope::ITEMS)? })
}

fn is_note_of(fact: &Fact, kind: &str, id: ItemId) -> bool {
    fact.is(kind)
        && fact.number(&["item"]) == Some(id.id)
        && fact.text("item_kind") == Some(id.kind.to_string().as_str())
}

fn register_notes(registry: &mut Registry<Context>) {
    for (name, kind) in
        [("workItemNoteCreated", "note.created"), ("workItemNoteUpdated", "note.updated")]
    {
        registry.subscription(
            name,
            move |arguments, context| async move {
                let id = noteable(&arguments)?;
                scope::readable_item(&context, id).await?;
                Ok(move |fact: &Fact| is_note_of(fact, kind, id))
            },
            |fact: Arc<Fact>, _, context| async move {
                let Some(id) = fact.number(&["note"]) else { return Ok(None) };
                match notes::readable(&context, NoteId(id)).await {
                    Ok(found) => Ok(Some(notes::note(found.note, found.key))),
                    Err(Failure::NotFoundOrForbidden) => Ok(None),
                    Err(failure) => Err(failure),
                }
            },
        );
    }
    registry.subscription(
        "workItemNoteDeleted",
        |arguments, context| async move {
            let id = noteable(&arguments)?;
            scope::readable_item(&context, id).await?;
            Ok(move |fact: &Fact| is_note_of(fact, "note.deleted", id))
        },
        |fact: Arc<Fact>, arguments, context| async move {
            deleted_note(&context, &fact, noteable(&arguments)?).await
        },
    );
}

/// A note that is gone. Of internal ones only those hear who could read them.
async fn deleted_note(
    context: &Context,
    fact: &Fact,
    of: ItemId,
) -> Result<Option<Value>, Failure> {
    let who = match scope::readable_item(context, of).await {
        Ok((_, who)) => who,
        Err(Failure::NotFoundOrForbidden) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if fact.flag("internal") && !who.is(kernel::AccessLevel::Reporter) {
        return Ok(None);
    }
    let id = fact.number(&["note"]).map(|id| gid("Note", id));
    Ok(id.map(|id| Value::fields("DeletedNote", [("id", id.into())])))
}

fn register_pipelines(registry: &mut Registry<Context>) {
    registry.subscription(
        "ciPipelineStatusUpdated",
        |arguments, context| async move {
            let id = arguments.gid("pipelineId", &["Ci::Pipeline"])?;
            ensure_shown(pipelines::of_id(&context, PipelineId(id)).await?)?;
            Ok(move |fact: &Fact| {
                fact.is("pipeline.changed") && fact.number(&["pipeline"]) == Some(id)
            })
        },
        |_: Arc<Fact>, arguments, context| async move {
            let id = arguments.gid("pipelineId", &["Ci::Pipeline"])?;
            Ok(shown(pipelines::of_id(&context, PipelineId(id)).await?))
        },
    );
    registry.subscription(
        "ciJobStatusUpdated",
        |arguments, context| async move {
            let id = arguments.gid("jobId", &["Ci::Build"])?;
            ensure_shown(pipelines::job_of_id(&context, JobId(id)).await?)?;
            Ok(move |fact: &Fact| fact.moves_job(id))
        },
        |_: Arc<Fact>, arguments, context| async move {
            let id = arguments.gid("jobId", &["Ci::Build"])?;
            Ok(shown(pipelines::job_of_id(&context, JobId(id)).await?))
        },
    );
}
