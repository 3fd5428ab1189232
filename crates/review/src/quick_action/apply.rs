//! What quick actions do, as far as whoever wrote them may.

use db::Tx;
use kernel::{
    AccessLevel, Result, Standing, TextEnum, Ts,
    ids::{MilestoneId, NamespaceId, ProjectId, UserId},
    time::parse_date,
};
use serde_json::{Map, Value, json};
use time::Duration;

use super::{
    beyond::{leave, promote},
    parse::Command,
    table::{Effect, Needs},
};
use crate::{
    emoji,
    epic::EpicName,
    issue::{
        self, HealthStatus, Issue, IssueStep, IssueStore as _, Severity, actions::IssueChange,
        link::LinkType, relocation::Notes,
    },
    item::{Item, ItemKind, TakesPart, labels::LabelChange, subscriptions, time::actions as times},
    merge_request::{
        MergeRequest, MergeRequestStore as _,
        change::{self, MergeRequestChange, Metadata},
        draft,
        state::Step,
    },
    ports::{Branches, Forge},
    todo::{TodoAction, TodoStore as _},
};

/// What quick actions have done: what others read of it, and what the author is told.
#[derive(Clone, Debug, Default)]
pub struct Done {
    pub changes: Map<String, Value>,
    pub summary: Vec<String>,
}

impl Done {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn note(&mut self, key: &str, value: Value, summary: impl Into<String>) {
        self.changes.insert(key.to_owned(), value);
        self.summary.push(summary.into());
    }
}

/// What is to become of an item; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
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
    pub(super) leaves: Option<Leaves>,
    pub(super) epic: Option<Option<EpicName>>,
    pub(super) iteration: Option<Option<i64>>,
    /// To become an epic of this group.
    pub(super) promoted: Option<NamespaceId>,
    pub(super) is_changed: bool,
}

/// Where an issue goes, or a copy of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leaves {
    Move(ProjectId),
    Copy(ProjectId, Notes),
}

pub(super) enum Row {
    Issue(Box<Issue>),
    MergeRequest(Box<MergeRequest>),
}

/// Does what somebody wrote about an item, as far as they may.
pub fn run<G: TakesPart, F: Forge + Branches>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &F,
    item: &Item,
    commands: &[Command<'_>],
) -> Result<Done> {
    let Some(row) = find(tx, item)? else { return Ok(Done::default()) };
    let user = grant.user()?;
    let (wanted, done) = (Wanted::default(), Done::default());
    let mut doing = Doing { forge, item, row, user, who: *grant.who(), wanted, done };
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
    Ok(match item.id.kind {
        ItemKind::Issue => {
            tx.find_issue(item.project, item.iid)?.map(|issue| Row::Issue(Box::new(issue)))
        }
        ItemKind::MergeRequest => tx
            .find_merge_request(item.project, item.iid)?
            .map(|row| Row::MergeRequest(Box::new(row))),
        ItemKind::Epic => None,
    })
}

pub(super) struct Doing<'d, F> {
    pub(super) forge: &'d F,
    pub(super) item: &'d Item,
    pub(super) row: Row,
    pub(super) user: UserId,
    pub(super) who: Standing,
    pub(super) wanted: Wanted,
    pub(super) done: Done,
}

impl<F: Forge + Branches> Doing<'_, F> {
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
            Effect::Due => self.due(tx.now, argument),
            Effect::Confidential => {
                self.wanted.confidential = true;
                self.changed("confidential", json!(true), "Made this issue confidential.");
            }
            Effect::Weight => self.weight(argument),
            Effect::Severity => self.severity(argument),
            Effect::HealthStatus => self.health(argument),
            Effect::RemoveMilestone
            | Effect::RemoveDueDate
            | Effect::ClearWeight
            | Effect::ClearHealthStatus => self.clear(command.row.effect),
            Effect::Promote => self.promote(tx)?,
            Effect::Epic => self.epic(tx, argument)?,
            Effect::RemoveEpic => self.remove_epic(tx)?,
            Effect::Iteration => self.iteration(tx, argument)?,
            Effect::RemoveIteration => self.remove_iteration(tx)?,
            Effect::Shrug | Effect::Tableflip => {}
        }
        Ok(())
    }

    /// Leaves a field of the item without a value.
    fn clear(&mut self, effect: Effect) {
        let (field, summary) = match effect {
            Effect::RemoveMilestone => {
                self.wanted.milestone = Some(None);
                ("milestone_id", "Removed milestone.")
            }
            Effect::RemoveDueDate => {
                self.wanted.due = Some(None);
                ("due_date", "Removed the due date.")
            }
            Effect::ClearWeight => {
                self.wanted.weight = Some(None);
                ("weight", "Cleared weight.")
            }
            Effect::ClearHealthStatus => {
                self.wanted.health = Some(None);
                ("health_status", "Cleared health status.")
            }
            _ => return,
        };
        self.changed(field, Value::Null, summary);
    }

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
        // Opening a merge request again takes a look into git.
        let can = match &self.row {
            Row::Issue(_) => true,
            Row::MergeRequest(_) => closed && self.item.state == "opened",
        };
        if is_closed == closed || !can {
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

    fn due(&mut self, now: Ts, argument: &str) {
        let Some(day) = day(now, argument) else { return };
        let text = kernel::time::date_text(day.date());
        self.wanted.due = Some(Some(day));
        self.changed("due_date", json!(text), format!("Set the due date to {text}."));
    }

    fn weight(&mut self, argument: &str) {
        let Some(weight) = argument.parse().ok().filter(|weight: &i64| *weight >= 0) else {
            return;
        };
        self.wanted.weight = Some(Some(weight));
        self.changed("weight", json!(weight), format!("Set weight to {weight}."));
    }

    fn severity(&mut self, argument: &str) {
        let name = argument.to_lowercase();
        let number = match name.as_str() {
            "s1" => "critical",
            "s2" => "high",
            "s3" => "medium",
            "s4" => "low",
            name => name,
        };
        let Some(severity) = Severity::find(number) else { return };
        self.wanted.severity = Some(severity);
        self.changed("severity", json!(severity), format!("Set the severity to {severity}."));
    }

    fn health(&mut self, argument: &str) {
        let Some(health) = HealthStatus::find(&argument.to_lowercase()) else { return };
        self.wanted.health = Some(Some(health));
        self.changed("health_status", json!(health), format!("Set health status to {health}."));
    }

    /// Changes the item as was wanted, all at once.
    fn finish(self, tx: &mut Tx<'_>) -> Result<Done> {
        let Self { forge, row, user, who, wanted, mut done, .. } = self;
        let (leaves, is_changed, promoted) = (wanted.leaves, wanted.is_changed, wanted.promoted);
        match row {
            Row::Issue(issue) => {
                let issue = match is_changed {
                    true => issue::actions::change(tx, user, forge, *issue, &of_issue(wanted))?,
                    false => *issue,
                };
                if let Some(group) = promoted {
                    promote(tx, forge, &who, &issue, group, &mut done)?;
                }
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

fn of_issue(wanted: Wanted) -> IssueChange {
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

fn of_merge_request(wanted: Wanted) -> MergeRequestChange {
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

/// `2026-12-31`, `today`, `tomorrow`, `in 2 weeks`
fn day(now: Ts, text: &str) -> Option<Ts> {
    let today = Ts::from_date(now.date());
    let text = text.to_lowercase();
    match text.as_str() {
        "today" => return Some(today),
        "tomorrow" => return Some(today.plus(Duration::days(1))),
        _ => {}
    }
    if let Ok(date) = parse_date(&text) {
        return Some(Ts::from_date(date));
    }
    let mut words = text.strip_prefix("in ")?.split_whitespace();
    let count: i64 = match words.next()? {
        "a" | "an" | "one" => 1,
        number => number.parse().ok().filter(|count| (0..10_000).contains(count))?,
    };
    let span = match words.next()?.trim_end_matches('s') {
        "day" => Duration::days(count),
        "week" => Duration::weeks(count),
        "month" => Duration::days(count * 30),
        _ => return None,
    };
    words.next().is_none().then(|| today.plus(span))
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::day;

    #[test]
    fn days_are_named_in_several_ways() {
        let now = Ts::parse("2026-11-21T08:00:00Z").unwrap();
        let read = |text| day(now, text).map(|day| kernel::time::date_text(day.date()));
        assert_eq!(read("2027-01-02").as_deref(), Some("2027-01-02"));
        assert_eq!(read("tomorrow").as_deref(), Some("2026-11-22"));
        assert_eq!(read("in 2 weeks").as_deref(), Some("2026-12-05"));
        assert_eq!(
            (read("soon"), read("in 99999999 days"), read("in 1 day or so")),
            (None, None, None)
        );
    }
}
