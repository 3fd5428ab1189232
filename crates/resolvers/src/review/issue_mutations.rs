//! Making and changing issues.

use std::sync::Arc;

use db::Tx;
use forge::{
    ports::directory::Directory,
    quick_actions::{Sender, after_describing},
};
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{
    AccessLevel, Error, Grant, Result as Kept, TextEnum as _, Ts,
    error::Kind,
    ids::{IssueId, MilestoneId, ProjectId, UserId},
};
use review::{
    Home,
    epic::EpicName,
    issue::{
        Issue, IssueStore as _, Severity,
        actions::{self, IssueChange, NewIssue},
        follow_up::FollowUp,
        order::{Neighbors, place},
        relocation::relocate,
    },
    item::{
        ItemStore as _,
        labels::LabelChange,
        subscriptions::set_subscription,
        time::{actions as times, parse},
    },
    iteration,
    merge_request::MergeRequestStore as _,
    policy::{CreateIssues, ManageIssues},
    quick_action::{DeferredAction, in_description},
};

use super::{
    issue::{IssueRecord, named, shared},
    issue_filter::health,
    issue_input::{LabelIds, day, given_change, issue_type, label_ids},
    item_filter::moment,
    scope,
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    operation_mode::PeopleChange,
    projects,
};

/// The issue of a payload, or the sentences that say why nothing was changed.
type Answer = Result<Payload, Failure>;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .mutation("createIssue", |input, context| async move { create(&context, &input).await });
    registry.mutation(
        "updateIssue",
        |input, context| async move { update_all(&context, &input).await },
    );
    registry
        .mutation("issueMove", |input, context| async move { relocated(&context, &input).await });
    registry.mutation("issueSetAssignees", |input, context| async move {
        assign(&context, &input).await
    });
    registry.mutation("issueSetSubscription", |input, context| async move {
        subscribe(&context, &input).await
    });
    register_setters(registry);
}

fn register_setters(registry: &mut Registry<Context>) {
    registry.mutation("issueSetConfidential", |input, context| async move {
        let confidential = Some(input.flag("confidential"));
        change(&context, &input, IssueChange { confidential, ..IssueChange::default() }).await
    });
    registry.mutation("issueSetDueDate", |input, context| async move {
        if !input.has("dueDate") {
            return Err(Failure::message("Argument dueDate must be provided (`null` accepted)"));
        }
        let due = moment(&input, "dueDate")?.map(|at| Ts::from_date(at.date()));
        change(&context, &input, IssueChange { due_date: Some(due), ..IssueChange::default() })
            .await
    });
    registry.mutation("issueSetEpic", |input, context| async move {
        let epic = input.maybe_gid("epicId", &["Epic"])?.map(EpicName::Id);
        change(&context, &input, IssueChange { epic: Some(epic), ..IssueChange::default() }).await
    });
    registry.mutation("issueSetIteration", |input, context| async move {
        let id = input.maybe_gid("iterationId", &["Iteration"])?;
        change(&context, &input, IssueChange { iteration: Some(id), ..IssueChange::default() })
            .await
    });
    registry.mutation("issueSetWeight", |input, context| async move {
        let weight = Some(input.maybe_int("weight"));
        change(&context, &input, IssueChange { weight, ..IssueChange::default() }).await
    });
    registry.mutation("issueSetLocked", |input, context| async move {
        let discussion_locked = Some(input.flag("locked"));
        change(&context, &input, IssueChange { discussion_locked, ..IssueChange::default() }).await
    });
    registry.mutation("issueSetSeverity", |input, context| async move {
        let severity = Severity::find(&input.text("severity")?.to_lowercase());
        change(&context, &input, IssueChange { severity, ..IssueChange::default() }).await
    });
}

async fn record(context: &Context, issue: Issue) -> Result<Value, Failure> {
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let found = context.forge.db.read(move |tx| {
        let issue = tx.find_issue_by_id(issue.id)?.ok_or_else(Error::missing)?;
        IssueRecord::all(tx, &urls, actor, vec![issue])
    });
    Ok(found.await.map_err(failure_of)?.pop().map(|one| shared(Arc::new(one))).into())
}

async fn answer(context: &Context, kept: Kept<Issue>) -> Answer {
    Ok(match done(kept)? {
        Ok(issue) => Payload::new().field("issue", record(context, issue).await?),
        Err(errors) => Payload::errors(errors),
    })
}

/// The issue that the input names, for somebody who may write issues.
async fn named_by(
    context: &Context,
    input: &Arguments,
) -> Result<(Grant<CreateIssues>, i64), Failure> {
    named(context, input.text("projectPath")?, &input.text("iid")?).await
}

/// Changes an issue for somebody who may.
async fn change(context: &Context, input: &Arguments, change: IssueChange) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    let changed = changed(context, &grant, iid, change, LabelIds::default()).await;
    answer(context, changed).await
}

async fn changed(
    context: &Context,
    grant: &Grant<CreateIssues>,
    iid: i64,
    change: IssueChange,
    label_ids: LabelIds,
) -> Kept<Issue> {
    let (asked, directory) = (grant.clone(), Directory::new(&context.forge.urls));
    let kept = context.forge.db.write(move |tx| {
        let mut change = change;
        let home = Home::Project(asked.project());
        if change.labels.is_empty() {
            change.labels = label_ids.names(tx, &directory, home)?;
        }
        if let Some(Some(id)) = change.iteration {
            iteration::actions::usable(tx, &directory, asked.project(), asked.user()?, id)?;
        }
        in_description::update_issue(tx, &asked, &directory, iid, change)
    });
    let (issue, later) = kept.await?;
    finish(context, grant, issue, later).await
}

/// Does what a description still wants.
async fn finish(
    context: &Context,
    grant: &Grant<CreateIssues>,
    issue: Issue,
    later: Vec<DeferredAction>,
) -> Kept<Issue> {
    let caller = context.caller()?;
    let sender = Sender { grant, caller, seen: None };
    after_describing(&context.forge, &sender, &issue.item(), later).await;
    Ok(issue)
}

async fn create(context: &Context, input: &Arguments) -> Answer {
    let grant = scope::grant_at::<CreateIssues>(context, input.text("projectPath")?).await?;
    context.rates.check_issue(grant.user().map_err(failure_of)?).map_err(failure_of)?;
    if input.maybe_texts("labels").is_some() && input.maybe_texts("labelIds").is_some() {
        return Err(Failure::message("Only one of labels or labelIds is allowed"));
    }
    let issue_type = match issue_type(input) {
        Ok(found) => found,
        Err(errors) => return Ok(Payload::errors(errors)),
    };
    let people = input.gids("assigneeIds", &["User"])?.into_iter().map(UserId).collect();
    let labels = LabelChange { all: input.maybe_texts("labels"), ..LabelChange::default() };
    let new = NewIssue {
        title: input.text("title")?,
        description: input.maybe_text("description"),
        issue_type,
        confidential: input.flag("confidential"),
        discussion_locked: input.maybe_bool("locked"),
        labels,
        assignees: people,
        milestone: input.maybe_gid("milestoneId", &["Milestone"])?.map(MilestoneId),
        epic: input.maybe_gid("epicId", &["Epic"])?.map(EpicName::Id),
        iteration: input.maybe_gid("iterationId", &["Iteration"])?,
        weight: input.maybe_int("weight"),
        health_status: input.maybe_enum("healthStatus").as_deref().and_then(health),
        due_date: day(input, "dueDate")?,
        created_at: moment(input, "createdAt")?,
        iid: input.maybe_int("iid"),
        ..NewIssue::default()
    };
    let current = input
        .maybe_enum("iterationWildcardId")
        .map(|_| input.maybe_gid("iterationCadenceId", &["Iterations::Cadence"]))
        .transpose()?;
    let asked = LinkedIds {
        label_ids: LabelIds {
            all: input.maybe_texts("labelIds").map(|_| label_ids(input, "labelIds")).transpose()?,
            ..LabelIds::default()
        },
        current_of: current,
        threads_of: input.maybe_gid("mergeRequestToResolveDiscussionsOf", &["MergeRequest"])?,
        thread: input.maybe_text("discussionToResolve").filter(|id| !id.is_empty()),
        behind: input.maybe_gid("moveAfterId", &["Issue"])?.map(IssueId),
        before: input.maybe_gid("moveBeforeId", &["Issue"])?.map(IssueId),
    };
    let made = made(context, &grant, new, asked).await;
    answer(context, made).await
}

/// Objects of a new issue that are given by id.
#[derive(Clone, Debug)]
struct LinkedIds {
    label_ids: LabelIds,
    /// The iteration that is under way, of this cadence or of any.
    current_of: Option<Option<i64>>,
    threads_of: Option<i64>,
    thread: Option<String>,
    behind: Option<IssueId>,
    before: Option<IssueId>,
}

async fn made(
    context: &Context,
    grant: &Grant<CreateIssues>,
    new: NewIssue,
    extras: LinkedIds,
) -> Kept<Issue> {
    let (asked, directory) = (grant.clone(), Directory::new(&context.forge.urls));
    let kept = context.forge.db.write(move |tx| {
        let mut new = new;
        let project = asked.project();
        if let Some(id) = new.iteration {
            iteration::actions::usable(tx, &directory, project, asked.user()?, id)?;
        }
        if let Some(cadence) = extras.current_of {
            let place = (project, asked.user()?);
            new.iteration = iteration::actions::current(tx, &directory, place, cadence)?;
        }
        if extras.label_ids.all.is_some() {
            new.labels = extras.label_ids.names(tx, &directory, Home::Project(project))?;
        }
        new.follow_up = FollowUp {
            merge_request: number_of(tx, project, extras.threads_of)?,
            discussion: extras.thread,
        };
        let (issue, later) = in_description::create_issue(tx, &asked, &directory, new)?;
        let between = Neighbors { first: extras.behind, second: extras.before };
        let is_placed = between.first.is_some() || between.second.is_some();
        if is_placed && asked.also::<ManageIssues>().is_ok() {
            place(tx, &issue, between)?;
        }
        Ok((issue, later))
    });
    let (issue, later) = kept.await?;
    finish(context, grant, issue, later).await
}

/// The number of a merge request of a project.
pub(super) fn number_of(tx: &mut Tx<'_>, project: ProjectId, id: Option<i64>) -> Kept<Option<i64>> {
    let Some(id) = id else { return Ok(None) };
    let found = tx.merge_requests_in_order(&[id])?.pop();
    let own = found.filter(|row| row.project_id == project).ok_or_else(Error::missing)?;
    Ok(Some(own.iid))
}

async fn update_all(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    let issue_type = match issue_type(input) {
        Ok(found) => found,
        Err(errors) => return Ok(Payload::errors(errors)),
    };
    if input.maybe_texts("labelIds").is_some()
        && (input.maybe_texts("addLabelIds").is_some()
            || input.maybe_texts("removeLabelIds").is_some())
    {
        return Err(Failure::message(
            "labelIds is mutually exclusive with any of addLabelIds or removeLabelIds",
        ));
    }
    let estimate = input.maybe_text("timeEstimate");
    if estimate.as_deref().is_some_and(|text| parse(text).is_none_or(|seconds| seconds < 0)) {
        return Err(Failure::message(
            "timeEstimate must be formatted correctly, for example `1h 30m`",
        ));
    }
    let change = IssueChange { issue_type, ..given_change(input)? };
    let labels = LabelIds {
        all: input.maybe_texts("labelIds").map(|_| label_ids(input, "labelIds")).transpose()?,
        add: label_ids(input, "addLabelIds")?,
        remove: label_ids(input, "removeLabelIds")?,
    };
    let mut kept = changed(context, &grant, iid, change, labels).await;
    let estimate = estimate.filter(|_| kept.is_ok());
    if let (Some(estimate), Ok(manage)) = (estimate, grant.also::<ManageIssues>()) {
        let estimated = context.forge.db.write(move |tx| {
            times::estimate(tx, &manage, iid, Some(&estimate))?;
            tx.find_issue(manage.project(), iid)?.ok_or_else(Error::missing)
        });
        kept = estimated.await;
    }
    answer(context, kept).await
}

async fn relocated(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    let target = projects::named(context, &input.text("targetProjectPath")?).await?.id();
    let directory = Directory::new(&context.forge.urls);
    let moved = context.forge.db.write(move |tx| {
        let issue = actions::read(tx, grant.who(), grant.project(), iid)?;
        relocate(tx, &directory, grant.who(), &issue, target)
    });
    answer(context, moved.await).await
}

async fn assign(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    if !grant.who().writes(AccessLevel::Reporter) {
        return Err(Failure::NotFoundOrForbidden);
    }
    let wanted = PeopleChange::read(input, "assigneeUsernames");
    let (asked, directory) = (grant.clone(), Directory::new(&context.forge.urls));
    let kept = context.forge.db.write(move |tx| {
        let issue = actions::read(tx, asked.who(), asked.project(), iid)?;
        let item = issue.item();
        let old = tx.assignees_of(item.id.kind, &[item.id.id])?.remove(&item.id.id);
        let people = wanted.apply(tx, old.unwrap_or_default())?;
        let change = IssueChange { assignees: Some(people), ..IssueChange::default() };
        actions::update(tx, &asked, &directory, iid, change)
    });
    answer(context, kept.await).await
}

async fn subscribe(context: &Context, input: &Arguments) -> Answer {
    let (grant, iid) = named_by(context, input).await?;
    let wanted = input.flag("subscribedState");
    let set = context.forge.db.write(move |tx| {
        let issue = actions::read(tx, grant.who(), grant.project(), iid)?;
        match set_subscription(tx, &issue.item(), grant.user()?, wanted) {
            Err(refused) if refused.kind == Kind::Unchanged => Ok(issue),
            set => set.map(|()| issue),
        }
    });
    answer(context, set.await).await
}
