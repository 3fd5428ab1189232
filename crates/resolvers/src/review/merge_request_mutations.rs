//! Making, changing and merging merge requests.

use std::sync::Arc;

use forge::{
    merge_request::{
        create::{MergeRequestDraft, create_merge_request},
        merge::{self, MergeOptions},
        update::update_merge_request,
    },
    ports::directory::Directory,
};
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{
    AccessLevel, Grant, Result as Kept,
    error::Kind,
    ids::{LabelId, MilestoneId, UserId},
};
use review::{
    Home,
    item::{
        ItemStore as _,
        labels::{LabelChange, usable_names},
        subscriptions::set_subscription,
    },
    merge_request::{
        MergeRequest, MergeRequestStore as _, ReviewerStore as _,
        actions::{self, NewMergeRequest},
        change::{self, MergeRequestChange},
        draft::{drafted, ready},
        merge::AutoMerge,
        metadata::Metadata,
        state::Step,
    },
    policy::{ProposeMergeRequests, ReadMergeRequests, TakePartInMergeRequests},
};

use super::{
    merge_request::{MergeRequestRecord, shared},
    scope,
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    operation_mode::PeopleChange,
};

type Answer = Result<Payload, Failure>;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("mergeRequestCreate", |input, context| async move {
        create(&context, &input).await
    });
    registry.mutation("mergeRequestUpdate", |input, context| async move {
        update(&context, &input).await
    });
    registry.mutation("mergeRequestAccept", |input, context| async move {
        accept(&context, &input).await
    });
    registry.mutation("mergeRequestReviewerRereview", |input, context| async move {
        ask_again(&context, &input).await
    });
    registry.mutation("mergeRequestSetSubscription", |input, context| async move {
        subscribe(&context, &input).await
    });
    register_setters(registry);
}

fn register_setters(registry: &mut Registry<Context>) {
    registry.mutation("mergeRequestSetAssignees", |input, context| async move {
        set_people(&context, &input, Role::Assignee).await
    });
    registry.mutation("mergeRequestSetReviewers", |input, context| async move {
        set_people(&context, &input, Role::Reviewer).await
    });
    registry.mutation("mergeRequestSetLabels", |input, context| async move {
        label(&context, &input).await
    });
    registry.mutation("mergeRequestSetDraft", |input, context| async move {
        let (grant, iid) = managed_by(&context, &input).await?;
        let (finding, wanted) = (grant.clone(), input.flag("draft"));
        let found = context.forge.db.read(move |tx| actions::find(tx, &finding, iid)).await;
        let title = found.map_err(failure_of)?.title;
        let title = if wanted { drafted(&title) } else { ready(&title).to_owned() };
        let change = MergeRequestChange { title: Some(title), ..MergeRequestChange::default() };
        changed(&context, &grant, iid, change).await
    });
    registry.mutation("mergeRequestSetLocked", |input, context| async move {
        let discussion_locked = Some(input.flag("locked"));
        set(&context, &input, Metadata { discussion_locked, ..Metadata::default() }).await
    });
    registry.mutation("mergeRequestSetMilestone", |input, context| async move {
        let id = input.maybe_gid("milestoneId", &["Milestone"])?.map(MilestoneId);
        set(&context, &input, Metadata { milestone: Some(id), ..Metadata::default() }).await
    });
}

async fn record(context: &Context, row: MergeRequest) -> Result<Value, Failure> {
    let urls = context.forge.urls.clone();
    let found = context.forge.db.read(move |tx| {
        let row = tx.merge_request(row.id)?;
        MergeRequestRecord::all(tx, &urls, vec![row])
    });
    Ok(found.await.map_err(failure_of)?.pop().map(|one| shared(Arc::new(one))).into())
}

async fn answer(context: &Context, kept: Kept<MergeRequest>) -> Answer {
    Ok(match done(kept)? {
        Ok(row) => Payload::new().field("mergeRequest", record(context, row).await?),
        Err(errors) => Payload::errors(errors),
    })
}

/// The merge request that the input names, for somebody who may take part.
async fn named_by(
    context: &Context,
    input: &Arguments,
) -> Result<(Grant<TakePartInMergeRequests>, i64), Failure> {
    let grant = scope::grant_at(context, input.text("projectPath")?).await?;
    let iid = input.text("iid")?.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    Ok((grant, iid))
}

/// As [`named_by`], for somebody who may change it: what the domain leaves out for others is refused here.
async fn managed_by(
    context: &Context,
    input: &Arguments,
) -> Result<(Grant<TakePartInMergeRequests>, i64), Failure> {
    let (grant, iid) = named_by(context, input).await?;
    let asked = grant.clone();
    let found = context.forge.db.read(move |tx| {
        let row = actions::find(tx, &asked, iid)?;
        change::ensure_may_update(tx, asked.who(), &row)
    });
    found.await.map_err(failure_of)?;
    Ok((grant, iid))
}

async fn changed(
    context: &Context,
    grant: &Grant<TakePartInMergeRequests>,
    iid: i64,
    change: MergeRequestChange,
) -> Answer {
    let caller = context.signed_in()?;
    answer(context, update_merge_request(&context.forge, grant, caller, iid, change).await).await
}

/// Changes what only those change who may manage merge requests.
async fn set(context: &Context, input: &Arguments, metadata: Metadata) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    ensure_manages(&grant)?;
    changed(context, &grant, iid, MergeRequestChange { metadata, ..MergeRequestChange::default() })
        .await
}

fn ensure_manages(grant: &Grant<TakePartInMergeRequests>) -> Result<(), Failure> {
    match grant.who().writes(AccessLevel::Developer) {
        true => Ok(()),
        false => Err(Failure::NotFoundOrForbidden),
    }
}

async fn create(context: &Context, input: &Arguments) -> Answer {
    let caller = context.signed_in()?;
    let source: Grant<ProposeMergeRequests> =
        scope::grant_at(context, input.text("projectPath")?).await?;
    let draft = MergeRequestDraft {
        source_branch: input.text("sourceBranch")?,
        target: source.project(),
        target_branch: input.text("targetBranch")?,
        attributes: NewMergeRequest {
            title: input.text("title")?,
            description: input.maybe_text("description"),
            labels: LabelChange { all: input.maybe_texts("labels"), ..LabelChange::default() },
            ..NewMergeRequest::default()
        },
    };
    let made = create_merge_request(&context.forge, &source, caller, draft).await;
    answer(context, made.map(|made| made.row)).await
}

async fn update(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    let change = MergeRequestChange {
        title: input.maybe_text("title"),
        description: input.has("description").then(|| input.maybe_text("description")),
        target_branch: input.maybe_text("targetBranch").filter(|name| !name.is_empty()),
        step: match input.maybe_enum("state").as_deref() {
            Some("OPEN") => Some(Step::Reopen),
            Some("CLOSED") => Some(Step::Close),
            _ => None,
        },
        ..MergeRequestChange::default()
    };
    changed(context, &grant, iid, change).await
}

/// In which role somebody is named.
#[derive(Clone, Copy, Debug)]
enum Role {
    Assignee,
    Reviewer,
}

async fn set_people(context: &Context, input: &Arguments, role: Role) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    ensure_manages(&grant)?;
    let argument = match role {
        Role::Assignee => "assigneeUsernames",
        Role::Reviewer => "reviewerUsernames",
    };
    let wanted = PeopleChange::read(input, argument);
    let asked = grant.clone();
    let people = context.forge.db.read(move |tx| {
        let row = actions::find(tx, &asked, iid)?;
        let item = row.item().id;
        let old: Vec<UserId> = match role {
            Role::Assignee => {
                tx.assignees_of(item.kind, &[item.id])?.remove(&item.id).unwrap_or_default()
            }
            Role::Reviewer => {
                let all = tx.reviewers_of(&[row.id])?.remove(&row.id).unwrap_or_default();
                all.into_iter().map(|reviewer| reviewer.user_id).collect()
            }
        };
        wanted.apply(tx, old)
    });
    let people = Some(people.await.map_err(failure_of)?);
    let metadata = match role {
        Role::Assignee => Metadata { assignees: people, ..Metadata::default() },
        Role::Reviewer => Metadata { reviewers: people, ..Metadata::default() },
    };
    changed(context, &grant, iid, MergeRequestChange { metadata, ..MergeRequestChange::default() })
        .await
}

async fn label(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    ensure_manages(&grant)?;
    let ids = input.gids("labelIds", &["Label", "ProjectLabel", "GroupLabel"])?;
    let ids: Vec<LabelId> = ids.into_iter().map(LabelId).collect();
    let (project, directory) = (grant.project(), Directory::new(&context.forge.urls));
    let names =
        context.forge.db.read(move |tx| usable_names(tx, &directory, Home::Project(project), &ids));
    let names = names.await.map_err(failure_of)?;
    let labels = match input.maybe_enum("operationMode").as_deref() {
        Some("APPEND") => LabelChange { add: names, ..LabelChange::default() },
        Some("REMOVE") => LabelChange { remove: names, ..LabelChange::default() },
        _ => LabelChange { all: Some(names), ..LabelChange::default() },
    };
    let metadata = Metadata { labels, ..Metadata::default() };
    changed(context, &grant, iid, MergeRequestChange { metadata, ..MergeRequestChange::default() })
        .await
}

const ALREADY_SCHEDULED: &str = "The merge request is already scheduled to be merged";
const SHA_MISMATCH: &str = "The merge-head is not at the anticipated SHA";
const CANNOT_BE_MERGED: &str = "This branch cannot be merged";
const MERGE_FAILED: &str = "The merge failed";

/// Why a merge request is not merged, with the merge request as it is.
async fn refused(context: &Context, row: MergeRequest, text: &str) -> Answer {
    let shown = record(context, row).await?;
    Ok(Payload::errors(vec![text.to_owned()]).field("mergeRequest", shown))
}

async fn accept(context: &Context, input: &Arguments) -> Answer {
    let caller = context.signed_in()?;
    let (grant, iid) = named_by(context, input).await?;
    let grant: Grant<ReadMergeRequests> = grant.also().map_err(failure_of)?;
    let finding = grant.clone();
    let found = context.forge.db.read(move |tx| actions::find(tx, &finding, iid)).await;
    let row = found.map_err(failure_of)?;
    let strategy = input.maybe_enum("strategy");
    if strategy.as_deref().is_some_and(|name| name.contains("TRAIN")) {
        return refused(context, row, CANNOT_BE_MERGED).await;
    }
    if row.auto_merge.is_some() {
        return refused(context, row, ALREADY_SCHEDULED).await;
    }
    let sha = input.text("sha")?;
    if row.head_sha.as_deref() != Some(sha.as_str()) {
        return refused(context, row, SHA_MISMATCH).await;
    }
    let options = MergeOptions {
        when_pipeline_succeeds: strategy.is_some(),
        how: AutoMerge {
            merge_commit_message: input.maybe_text("commitMessage"),
            squash_commit_message: input.maybe_text("squashCommitMessage"),
            should_remove_source_branch: input.maybe_bool("shouldRemoveSourceBranch"),
            squash: input.flag("squash"),
            sha: Some(sha),
        },
    };
    match merge::accept(&context.forge, &grant, caller, iid, options).await {
        Ok(merged) => answer(context, Ok(merged)).await,
        Err(failure) => match failure.kind {
            Kind::Conflict => refused(context, row, SHA_MISMATCH).await,
            Kind::NotAllowed | Kind::NotAcceptable => refused(context, row, CANNOT_BE_MERGED).await,
            Kind::Unprocessable => refused(context, row, MERGE_FAILED).await,
            _ => Err(failure_of(failure)),
        },
    }
}

async fn ask_again(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    let user = UserId(input.gid("userId", &["User"])?);
    let asked = context.forge.db.write(move |tx| change::ask_again(tx, &grant, iid, user)).await;
    answer(context, asked).await
}

async fn subscribe(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    let wanted = input.flag("subscribedState");
    let set = context.forge.db.write(move |tx| {
        let row = actions::find(tx, &grant, iid)?;
        match set_subscription(tx, &row.item(), grant.user()?, wanted) {
            Err(refused) if refused.kind == Kind::Unchanged => Ok(row),
            set => set.map(|()| row),
        }
    });
    answer(context, set.await).await
}
