//! Changing an issue: its words, its people and labels, and whether it is open.

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result, Standing, Ts,
    ids::{MilestoneId, UserId},
};

use super::{
    HealthStatus, Issue, IssueStep, IssueStore as _, IssueType, Severity,
    actions::{ensure_fit, ensure_free, read},
    changes,
    steps::{close, reopen},
    store,
};
use crate::{
    Event, Home,
    epic::{EpicName, first_place, issues as epic_issues},
    event::{Change, IssueFact},
    item::{
        ItemStore as _, assignees,
        edit::{LastEdit, record_edit},
        hold,
        labels::{self, LabelChange, UnknownLabels},
        milestones,
    },
    policy::CreateIssues,
    ports::{GroupHierarchy, People},
    todo::{TodoAction, TodoStore as _},
};

/// Fields of an issue to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct IssueChange {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub step: Option<IssueStep>,
    pub issue_type: Option<IssueType>,
    pub severity: Option<Severity>,
    pub confidential: Option<bool>,
    pub discussion_locked: Option<bool>,
    pub labels: LabelChange,
    /// Nobody, or only the number 0, takes it from everybody.
    pub assignees: Option<Vec<UserId>>,
    pub milestone: Option<Option<MilestoneId>>,
    pub epic: Option<Option<EpicName>>,
    pub iteration: Option<Option<i64>>,
    pub weight: Option<Option<i64>>,
    pub health_status: Option<Option<HealthStatus>>,
    pub due_date: Option<Option<Ts>>,
    /// For owners alone, as is all that follows.
    pub created_at: Option<Ts>,
    pub updated_at: Option<Ts>,
    pub iid: Option<i64>,
}

/// Changes an issue. Who may not manage issues changes the words and the state of their own; the rest is left out.
///
/// # Errors
/// `NotFound` for those who may not read it; `Forbidden` for those who may not change it.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<CreateIssues>,
    around: &(impl GroupHierarchy + People),
    iid: i64,
    change: IssueChange,
) -> Result<Issue> {
    let who = grant.who();
    let issue = read(tx, who, grant.project(), iid)?;
    ensure_may_update(tx, who, &issue)?;
    let mut asked = if who.is(AccessLevel::Reporter) { change } else { for_authors(change) };
    if !who.is(AccessLevel::Owner) {
        (asked.created_at, asked.updated_at, asked.iid) = (None, None, None);
    }
    self::change(tx, grant.user()?, around, issue, &asked)
}

/// Whether somebody may change the words and the state of an issue that they may read.
pub fn may_update(tx: &mut Tx<'_>, who: &Standing, issue: &Issue) -> Result<bool> {
    if who.writes(AccessLevel::Reporter) {
        return Ok(true);
    }
    let Some(user) = who.actor.id.filter(|_| !who.archived) else { return Ok(false) };
    let is_assigned = issue.author_id != user && tx.is_assigned(issue.id.into(), user)?;
    Ok(may_update_as(who, issue, is_assigned))
}

/// As [`may_update`], where it is known whether the issue is given to them.
pub fn may_update_as(who: &Standing, issue: &Issue, is_assigned: bool) -> bool {
    if who.writes(AccessLevel::Reporter) {
        return true;
    }
    let Some(user) = who.actor.id.filter(|_| !who.archived) else { return false };
    issue.issue_type != IssueType::Incident && (issue.author_id == user || is_assigned)
}

/// # Errors
/// `Forbidden` for those who may not.
pub fn ensure_may_update(tx: &mut Tx<'_>, who: &Standing, issue: &Issue) -> Result<()> {
    if may_update(tx, who, issue)? { Ok(()) } else { Err(Error::forbidden()) }
}

fn for_authors(change: IssueChange) -> IssueChange {
    IssueChange {
        title: change.title,
        description: change.description,
        step: change.step,
        ..IssueChange::default()
    }
}

/// Changes an issue for somebody who was found to be allowed to.
pub fn change(
    tx: &mut Tx<'_>,
    by: UserId,
    around: &(impl GroupHierarchy + People),
    issue: Issue,
    asked: &IssueChange,
) -> Result<Issue> {
    let issue = match hold(tx, issue.id.into())? {
        true => tx.find_issue_by_id(issue.id)?.ok_or_else(Error::missing)?,
        false => issue,
    };
    let mut new = issue.clone();
    let milestone = match asked.milestone {
        Some(milestone) => milestones::usable(tx, around, issue.project_id, milestone)?,
        None => issue.milestone_id,
    };
    apply(&mut new, asked, milestone);
    new.epic_id = epic_issues::after(tx, around, by, &issue, asked.epic, new.confidential)?;
    if new.epic_id != issue.epic_id {
        new.epic_position = new.epic_id.map(|epic| first_place(tx, epic)).transpose()?;
    }
    if let Some(iid) = asked.iid.filter(|iid| *iid != issue.iid) {
        ensure_free(tx, issue.project_id, iid)?;
        new.iid = store::next_iid(tx, issue.project_id, Some(iid))?;
    }
    ensure_fit(&new.title, new.description.as_deref(), asked.weight.flatten())?;
    let told = changes::between(&issue, &new);
    let mut all = told.clone();
    all.extend(relabel(tx, by, around, &issue, &asked.labels)?);
    all.extend(reassign(tx, by, around, &new, asked.assignees.as_deref())?);
    let (mut kept, mut edit) = (issue.clone(), LastEdit::default());
    let dated = asked.created_at.is_some() || asked.updated_at.is_some();
    if !all.is_empty() || dated {
        new.updated_at = asked.updated_at.unwrap_or(tx.now);
        (kept, edit) = store::keep(tx, &new)?;
        changes::tell(tx, &kept, by, &told)?;
    }
    if !all.is_empty() {
        let implied = record_edit(tx, kept.id.into(), (by, None), &all, edit)?;
        let fact = IssueFact::changed(&kept, &issue).with_implied(implied);
        tx.emit(Event::IssueUpdated { issue: fact, user: by, changes: all })?;
    }
    match asked.step {
        Some(IssueStep::Close) => close(tx, &kept, by),
        Some(IssueStep::Reopen) => reopen(tx, &kept, by),
        None => Ok(kept),
    }
}

fn apply(new: &mut Issue, asked: &IssueChange, milestone: Option<MilestoneId>) {
    if let Some(title) = &asked.title {
        title.trim().clone_into(&mut new.title);
    }
    if let Some(description) = &asked.description {
        new.description = description.clone().filter(|text| !text.is_empty());
    }
    new.created_at = asked.created_at.unwrap_or(new.created_at);
    new.issue_type = asked.issue_type.unwrap_or(new.issue_type);
    // Only incidents have one.
    if new.issue_type == IssueType::Incident {
        new.severity = asked.severity.unwrap_or(new.severity);
    }
    new.confidential = asked.confidential.unwrap_or(new.confidential);
    new.discussion_locked = asked.discussion_locked.or(new.discussion_locked);
    new.milestone_id = milestone;
    new.iteration_id = asked.iteration.unwrap_or(new.iteration_id);
    new.weight = asked.weight.unwrap_or(new.weight);
    new.health_status = asked.health_status.unwrap_or(new.health_status);
    new.due_date = asked.due_date.unwrap_or(new.due_date);
}

fn relabel(
    tx: &mut Tx<'_>,
    by: UserId,
    around: &impl GroupHierarchy,
    issue: &Issue,
    asked: &LabelChange,
) -> Result<Option<Change>> {
    if asked.is_empty() {
        return Ok(None);
    }
    let old = labels_of(tx, issue)?;
    let home = Home::Project(issue.project_id);
    let new = labels::chosen(tx, around, home, &old, asked, UnknownLabels::Make(by))?;
    let moved = labels::keep(tx, issue.id.into(), &old, &new)?;
    let ids = |labels: &[crate::label::Label]| {
        Some(labels.iter().map(|label| label.id.to_string()).collect::<Vec<_>>().join(","))
    };
    let change = Change { field: "labels", before: ids(&old), after: ids(&new) };
    Ok((!moved.is_empty()).then_some(change))
}

fn labels_of(tx: &mut Tx<'_>, issue: &Issue) -> Result<Vec<crate::label::Label>> {
    let item = crate::item::ItemId::from(issue.id);
    Ok(tx.labels_of(item.kind, &[item.id])?.remove(&item.id).unwrap_or_default())
}

fn reassign(
    tx: &mut Tx<'_>,
    by: UserId,
    people: &impl People,
    issue: &Issue,
    asked: Option<&[UserId]>,
) -> Result<Option<Change>> {
    let Some(asked) = asked else { return Ok(None) };
    let item = issue.item();
    let Some(new) = assignees::chosen(tx, people, &item, asked)? else { return Ok(None) };
    let old = tx.assignees_of(item.id.kind, &[item.id.id])?.remove(&item.id.id).unwrap_or_default();
    let moved = assignees::keep(tx, &item, &old, &new)?;
    if moved.is_empty() {
        return Ok(None);
    }
    assignees::tell(tx, people, &item, by, &moved)?;
    for person in &moved.added {
        tx.raise_todo(&item, *person, by, TodoAction::Assigned, None)?;
    }
    let ids = |people: &[UserId]| {
        Some(people.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    };
    Ok(Some(Change { field: "assignees", before: ids(&old), after: ids(&new) }))
}
