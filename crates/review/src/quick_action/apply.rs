//! Runs quick actions with the permissions of their author.

use db::Tx;
use kernel::{
    AccessLevel, Result, Standing, Ts,
    ids::{MilestoneId, NamespaceId, ProjectId, UserId},
};
use serde_json::{Map, Value, json};

use super::{
    cross_item::{leave, promote},
    deferred::DeferredAction,
    parse::Command,
    table::{Effect, Needs},
};
use crate::{
    emoji,
    epic::EpicName,
    issue::{
        self, HealthStatus, Issue, IssueStep, IssueStore as _, Severity, actions::IssueChange,
        duplicate, link::LinkType, relocation::Notes,
    },
    item::{
        Item, ItemKind, ParticipationGrant, labels::LabelChange, subscriptions,
        time::actions as times,
    },
    merge_request::{
        MergeRequest, MergeRequestStore as _,
        change::{self, MergeRequestChange},
        draft,
        metadata::Metadata,
        state::Step,
    },
    ports::{Branches, Forge},
    todo::{TodoAction, TodoStore as _},
};

/// The results of quick actions: changed fields for the API, and messages for the author.
#[derive(Clone, Debug, Default)]
pub struct ActionSummary {
    pub changes: Map<String, Value>,
    pub summary: Vec<String>,
    /// What is still to be done.
    pub later: Vec<DeferredAction>,
}

impl ActionSummary {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.later.is_empty()
    }

    pub fn note(&mut self, key: &str, value: Value, summary: impl Into<String>) {
        self.changes.insert(key.to_owned(), value);
        self.summary.push(summary.into());
    }
}

/// Fields of an item to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemChanges {
    pub(super) closed: Option<bool>,
    pub(super) title: Option<String>,
    pub(super) labels: LabelChange,
    pub(super) assignees: Option<Vec<UserId>>,
    pub(super) reviewers: Option<Vec<UserId>>,
    pub(super) milestone: Option<Option<MilestoneId>>,
    pub(super) locked: Option<bool>,
    pub(super) due: Option<Option<Ts>>,
    pub(super) confidential: bool,
    pub(super) weight: Option<Option<i64>>,
    pub(super) severity: Option<Severity>,
    pub(super) health: Option<Option<HealthStatus>>,
    pub(super) leaves: Option<IssueTransfer>,
    pub(super) epic: Option<Option<EpicName>>,
    pub(super) iteration: Option<Option<i64>>,
    /// To become an epic of this group.
    pub(super) promoted: Option<NamespaceId>,
    pub(super) duplicate_of: Option<Box<Issue>>,
    pub(super) is_changed: bool,
}

/// The target of moving or cloning an issue.
#[derive(Clone, Copy, Debug)]
pub(super) enum IssueTransfer {
    Move(ProjectId),
    Copy(ProjectId, Notes),
}

pub(super) enum Row {
    Issue(Box<Issue>),
    MergeRequest(Box<MergeRequest>),
}

/// Does what somebody wrote about an item, as far as they may.
pub fn run<G: ParticipationGrant, F: Forge + Branches>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &F,
    item: &Item,
    commands: &[Command<'_>],
) -> Result<ActionSummary> {
    if commands.is_empty() {
        return Ok(ActionSummary::default());
    }
    let Some(row) = find(tx, item)? else { return Ok(ActionSummary::default()) };
    let user = grant.user()?;
    let (wanted, done) = (ItemChanges::default(), ActionSummary::default());
    let mut doing = ActionContext { forge, item, row, user, who: *grant.who(), wanted, done };
    let may_update = match &doing.row {
        Row::Issue(issue) => issue::actions::may_update(tx, grant.who(), issue)?,
        Row::MergeRequest(row) => change::may_update(tx, grant.who(), row)?,
    };
    let manager = match item.id.kind {
        ItemKind::Issue | ItemKind::Epic => AccessLevel::Reporter,
        ItemKind::MergeRequest => AccessLevel::Developer,
    };
    for command in commands {
        let may = match command.row.needs {
            Needs::Voice => true,
            Needs::Update => may_update,
            Needs::Manage => grant.who().writes(manager),
        };
        if may {
            doing.take(tx, command)?;
        }
    }
    doing.finish(tx)
}

pub(super) fn find(tx: &mut Tx<'_>, item: &Item) -> Result<Option<Row>> {
    let Some(project) = item.project() else { return Ok(None) };
    Ok(match item.id.kind {
        ItemKind::Issue => {
            tx.find_issue(project, item.iid)?.map(|issue| Row::Issue(Box::new(issue)))
        }
        ItemKind::MergeRequest => {
            tx.find_merge_request(project, item.iid)?.map(|row| Row::MergeRequest(Box::new(row)))
        }
        ItemKind::Epic => None,
    })
}

pub(super) struct ActionContext<'d, F> {
    pub(super) forge: &'d F,
    pub(super) item: &'d Item,
    pub(super) row: Row,
    pub(super) user: UserId,
    pub(super) who: Standing,
    pub(super) wanted: ItemChanges,
    pub(super) done: ActionSummary,
}

impl<F: Forge + Branches> ActionContext<'_, F> {
    /// Notes what one command wants; what has no effect is passed over.
    fn take(&mut self, tx: &mut Tx<'_>, command: &Command<'_>) -> Result<()> {
        let argument = command.argument;
        match command.row.effect {
            Effect::Close => self.close(true),
            Effect::Reopen => self.close(false),
            Effect::Title => self.title(argument.to_owned()),
            Effect::Draft | Effect::Ready => self.draft(command.row.effect == Effect::Draft),
            Effect::Assign | Effect::Reassign | Effect::Unassign => {
                self.assign(tx, command.row.effect, argument)?;
            }
            Effect::AssignReviewer | Effect::UnassignReviewer => {
                self.review(tx, command.row.effect, argument)?;
            }
            Effect::Label | Effect::Relabel | Effect::Unlabel => {
                self.label(tx, command.row.effect, argument)?;
            }
            Effect::Milestone => self.milestone(tx, argument)?,
            Effect::Todo | Effect::Done => self.todo(tx, command.row.effect == Effect::Todo)?,
            Effect::Subscribe => self.subscribe(tx, true)?,
            Effect::Unsubscribe => self.subscribe(tx, false)?,
            Effect::Award => self.award(tx, argument)?,
            Effect::Estimate | Effect::RemoveEstimate => {
                self.estimate(tx, command.row.effect == Effect::Estimate, argument)?;
            }
            Effect::Spend => self.spend(tx, argument)?,
            Effect::RemoveTimeSpent => {
                times::take_all_back(tx, self.item, self.user)?;
                self.done.note("spend_time", json!({ "duration": "reset" }), "Removed spent time.");
            }
            Effect::Relate => self.relate(tx, LinkType::RelatesTo, argument)?,
            Effect::Blocks => self.relate(tx, LinkType::Blocks, argument)?,
            Effect::BlockedBy => self.relate(tx, LinkType::IsBlockedBy, argument)?,
            Effect::Move | Effect::Clone => {
                self.leave(tx, command.row.effect == Effect::Clone, argument)?;
            }
            Effect::Lock => self.lock(true),
            Effect::Unlock => self.lock(false),
            Effect::CopyMetadata => self.copy(tx, argument)?,
            Effect::Promote => self.promote(tx)?,
            Effect::Epic => self.epic(tx, argument)?,
            Effect::RemoveEpic => self.remove_epic(tx)?,
            Effect::Iteration => self.iteration(tx, argument)?,
            Effect::RemoveIteration => self.remove_iteration(tx)?,
            Effect::Duplicate => self.duplicate(tx, argument)?,
            Effect::SubmitReview => self.submit_review(tx)?,
            Effect::Shrug | Effect::Tableflip => {}
            effect if self.plan(tx.now, effect, argument) => {}
            effect => self.done.later.extend(DeferredAction::of(effect, argument)),
        }
        Ok(())
    }

    /// Leaves a field of the item without a value.
    pub(super) fn changed(&mut self, key: &str, value: Value, summary: impl Into<String>) {
        self.wanted.is_changed = true;
        self.done.note(key, value, summary);
    }

    fn noun(&self) -> &'static str {
        match self.item.id.kind {
            ItemKind::Issue => "issue",
            ItemKind::MergeRequest => "merge request",
            ItemKind::Epic => "epic",
        }
    }

    fn close(&mut self, closed: bool) {
        let is_closed = self.item.state == "closed";
        let can = match &self.row {
            Row::Issue(_) => true,
            Row::MergeRequest(_) => !closed || self.item.state == "opened",
        };
        if is_closed == closed || !can {
            return;
        }
        if self.item.id.kind == ItemKind::MergeRequest && !closed {
            self.done.later.push(DeferredAction::Reopen);
            return;
        }
        self.wanted.closed = Some(closed);
        let (event, word) = if closed { ("close", "Closed") } else { ("reopen", "Reopened") };
        let summary = format!("{word} this {}.", self.noun());
        self.changed("state_event", json!(event), summary);
    }

    fn title(&mut self, title: String) {
        let summary = format!("Changed the title to \"{title}\".");
        self.changed("title", json!(title), summary);
        self.wanted.title = Some(title);
    }

    /// `/draft` takes back what it did before.
    fn draft(&mut self, asked: bool) {
        let is_draft = draft::is_draft(&self.item.title);
        let wanted = asked && !is_draft;
        if !asked && !is_draft {
            return;
        }
        let (event, title, summary) = match wanted {
            true => {
                ("draft", draft::drafted(&self.item.title), "Marked this merge request as a draft.")
            }
            false => {
                let title = draft::ready(&self.item.title).to_owned();
                ("ready", title, "Marked this merge request as ready.")
            }
        };
        self.wanted.title = Some(title);
        self.changed("wip_event", json!(event), summary);
    }

    fn todo(&mut self, tx: &mut Tx<'_>, wanted: bool) -> Result<()> {
        if wanted {
            if tx.raise_todo(self.item, self.user, self.user, TodoAction::Marked, None)? {
                self.done.note("todo_event", json!("add"), "Added a to-do item.");
            }
        } else {
            tx.finish_todos(self.item.id, self.user)?;
            self.done.note("todo_event", json!("done"), "Marked to-do item as done.");
        }
        Ok(())
    }

    fn subscribe(&mut self, tx: &mut Tx<'_>, wanted: bool) -> Result<()> {
        if subscriptions::is_subscribed(tx, self.item, self.user)? == wanted {
            return Ok(());
        }
        subscriptions::set_subscription(tx, self.item, self.user, wanted)?;
        let (event, word) = match wanted {
            true => ("subscribe", "Subscribed to"),
            false => ("unsubscribe", "Unsubscribed from"),
        };
        let summary = format!("{word} this {}.", self.noun());
        self.done.note("subscription_event", json!(event), summary);
        Ok(())
    }

    fn award(&mut self, tx: &mut Tx<'_>, argument: &str) -> Result<()> {
        let Some(name) = emoji::canonical(argument) else { return Ok(()) };
        emoji::actions::toggle(tx, self.item, self.user, name)?;
        let summary = format!("Toggled :{name}: emoji award.");
        self.done.note("emoji_award", json!(name), summary);
        Ok(())
    }

    fn lock(&mut self, locked: bool) {
        if self.item.locked != locked {
            self.wanted.locked = Some(locked);
            let word = if locked { "Locked" } else { "Unlocked" };
            self.changed("discussion_locked", json!(locked), format!("{word} the discussion."));
        }
    }

    /// Changes the item as was wanted, all at once.
    fn finish(self, tx: &mut Tx<'_>) -> Result<ActionSummary> {
        let Self { forge, row, user, who, wanted, mut done, .. } = self;
        let (leaves, is_changed, promoted) = (wanted.leaves, wanted.is_changed, wanted.promoted);
        let original = wanted.duplicate_of.clone();
        match row {
            Row::Issue(issue) => {
                let issue = match is_changed {
                    true => issue::actions::change(tx, user, forge, *issue, &of_issue(wanted))?,
                    false => *issue,
                };
                if let Some(group) = promoted {
                    promote(tx, forge, &who, &issue, group, &mut done)?;
                }
                let issue = match original {
                    Some(original) => duplicate::mark(tx, forge, &who, &issue, &original)?,
                    None => issue,
                };
                let Some(leaves) = leaves else { return Ok(done) };
                leave(tx, forge, &who, &issue, leaves, &mut done)?;
            }
            Row::MergeRequest(row) if is_changed => {
                change::change(tx, user, forge, &row, None, &of_merge_request(wanted))?;
            }
            Row::MergeRequest(_) => {}
        }
        Ok(done)
    }
}

fn of_issue(wanted: ItemChanges) -> IssueChange {
    let step = |closed| if closed { IssueStep::Close } else { IssueStep::Reopen };
    IssueChange {
        title: wanted.title,
        step: wanted.closed.map(step),
        severity: wanted.severity,
        confidential: wanted.confidential.then_some(true),
        discussion_locked: wanted.locked,
        labels: wanted.labels,
        assignees: wanted.assignees,
        milestone: wanted.milestone,
        epic: wanted.epic,
        iteration: wanted.iteration,
        weight: wanted.weight,
        health_status: wanted.health,
        due_date: wanted.due,
        ..IssueChange::default()
    }
}

fn of_merge_request(wanted: ItemChanges) -> MergeRequestChange {
    MergeRequestChange {
        title: wanted.title,
        step: wanted.closed.filter(|closed| *closed).map(|_| Step::Close),
        metadata: Metadata {
            labels: wanted.labels,
            assignees: wanted.assignees,
            reviewers: wanted.reviewers,
            milestone: wanted.milestone,
            discussion_locked: wanted.locked,
        },
        ..MergeRequestChange::default()
    }
}
