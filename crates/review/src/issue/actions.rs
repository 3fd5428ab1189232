//! Writing, changing, closing and removing issues.
//!
//! [`create`], [`update`] and [`remove`] are what people ask for, and check who may. [`change`], [`close`] and
//! [`reopen`] are for others of this crate who have checked that themselves: quick actions, and merges that close.

use db::Tx;
use kernel::{
    AccessLevel, Error, Faults, Grant, Result, Standing, Ts,
    ids::{MilestoneId, ProjectId, UserId},
    values::LARGEST_INTEGER,
};

use super::{
    HealthStatus, Issue, IssueStore as _, IssueType, Severity,
    follow_up::FollowUp,
    link::LinkStore as _,
    origin::{self, Origin},
    store,
};
use crate::{
    Event, Home,
    epic::{EpicName, first_place, issues as epic_issues},
    item::{
        assignees,
        details::ItemDetails,
        ensure_readable,
        labels::{self, LabelChange, UnknownLabels},
        milestones,
    },
    policy::{CreateIssues, DeleteIssues, ReadIssues},
    ports::{GroupHierarchy, People},
    todo::{TodoAction, TodoStore as _},
};

pub use super::change::{
    IssueChange, change, ensure_may_update, may_update, may_update_as, update,
};
pub use super::steps::{CloseReason, close, close_for, reopen};

const LONGEST_TITLE: usize = 255;

const LONGEST_DESCRIPTION: usize = 1_048_576;

/// An issue as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct NewIssue {
    pub title: String,
    pub description: Option<String>,
    pub issue_type: Option<IssueType>,
    pub confidential: bool,
    /// For members alone, as is all that follows.
    pub discussion_locked: Option<bool>,
    /// Of an incident; other issues have none.
    pub severity: Option<Severity>,
    pub labels: LabelChange,
    pub assignees: Vec<UserId>,
    pub milestone: Option<MilestoneId>,
    pub epic: Option<EpicName>,
    pub iteration: Option<i64>,
    pub weight: Option<i64>,
    pub health_status: Option<HealthStatus>,
    pub due_date: Option<Ts>,
    /// For owners alone.
    pub created_at: Option<Ts>,
    pub iid: Option<i64>,
    /// Threads that go on in it.
    pub follow_up: FollowUp,
    /// With what, and from where, it is written.
    pub origin: Option<Origin>,
}

/// An issue that somebody may read.
pub fn read(tx: &mut Tx<'_>, who: &Standing, project: ProjectId, iid: i64) -> Result<Issue> {
    let issue = tx.find_issue(project, iid)?.ok_or_else(Error::missing)?;
    ensure_readable(tx, who, &issue.item())?;
    Ok(issue)
}

/// As [`read`], for whoever proved to read issues of a project.
pub fn find(tx: &mut Tx<'_>, grant: &Grant<ReadIssues>, iid: i64) -> Result<Issue> {
    read(tx, grant.who(), grant.project(), iid)
}

/// As [`find`], with what is kept beside it.
pub fn find_with(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadIssues>,
    iid: i64,
) -> Result<(Issue, ItemDetails)> {
    let found = tx.find_issue_with(grant.project(), iid, grant.actor())?;
    let (issue, beside) = found.ok_or_else(Error::missing)?;
    ensure_readable(tx, grant.who(), &issue.item())?;
    Ok((issue, beside))
}

/// The highest number that somebody may choose, so that others can follow it.
const MOST_IID: i64 = LARGEST_INTEGER;

/// Writes an issue. What only members may say of one is left out where others say it.
///
/// # Errors
/// `BadRequest` for a title that is none; `Conflict` for a number that is taken.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<CreateIssues>,
    around: &(impl GroupHierarchy + People),
    new: NewIssue,
) -> Result<Issue> {
    let (who, project, author) = (*grant.who(), grant.project(), grant.user()?);
    let mut new = if who.is(AccessLevel::Guest) { new } else { for_strangers(new) };
    if !who.is(AccessLevel::Owner) {
        (new.created_at, new.iid) = (None, None);
    }
    ensure_fit(&new.title, new.description.as_deref(), new.weight)?;
    if let Some(iid) = new.iid {
        ensure_free(tx, project, iid)?;
    }
    let epic = epic_of_new(tx, around, project, author, &new)?;
    let issue_type = new.issue_type.unwrap_or(IssueType::Issue);
    let severity = new.severity.filter(|_| issue_type == IssueType::Incident);
    let row = store::IssueRow {
        project,
        iid: store::next_iid(tx, project, new.iid)?,
        title: new.title.trim().to_owned(),
        description: new.description.filter(|text| !text.is_empty()),
        issue_type,
        severity: severity.unwrap_or(Severity::Unknown),
        author,
        confidential: new.confidential,
        discussion_locked: new.discussion_locked.filter(|_| who.is(AccessLevel::Reporter)),
        milestone: milestones::usable(tx, around, project, new.milestone)?,
        epic: epic.map(|(id, _)| id),
        epic_position: epic.map(|(_, position)| position),
        iteration: new.iteration,
        weight: new.weight,
        health_status: new.health_status,
        due_date: new.due_date,
        created_at: new.created_at.unwrap_or(tx.now),
    };
    let issue = store::insert(tx, &row)?;
    if let Some(origin) = &new.origin {
        origin::keep(tx, issue.id, origin)?;
    }
    let item = issue.item();
    let unknown = match who.is(AccessLevel::Reporter) {
        true => UnknownLabels::Make(author),
        false => UnknownLabels::LeaveOut,
    };
    let chosen = labels::chosen(tx, around, Home::Project(project), &[], &new.labels, unknown)?;
    labels::keep(tx, item.id, &[], &chosen)?;
    if let Some(people) = assignees::chosen(tx, around, &item, &new.assignees)? {
        assignees::keep(tx, &item, &[], &people)?;
        for person in people {
            tx.raise_todo(&item, person, author, TodoAction::Assigned, None)?;
        }
    }
    tx.emit(Event::opened(&issue, &chosen, author))?;
    Ok(issue)
}

/// # Errors
/// `BadRequest` for a number that is none; `Conflict` for one that is taken.
pub(super) fn ensure_free(tx: &mut Tx<'_>, project: ProjectId, iid: i64) -> Result<()> {
    if !(1..=MOST_IID).contains(&iid) {
        return Err(Error::invalid("iid", format!("must be from 1 to {MOST_IID}")));
    }
    match tx.find_issue(project, iid)? {
        Some(_) => Err(Error::conflict().whole("Duplicated issue")),
        None => Ok(()),
    }
}

/// The epic of a new issue, and the place before all others in it.
fn epic_of_new(
    tx: &mut Tx<'_>,
    around: &(impl GroupHierarchy + People),
    project: ProjectId,
    author: UserId,
    new: &NewIssue,
) -> Result<Option<(i64, i64)>> {
    let Some(name) = new.epic else { return Ok(None) };
    let epic = epic_issues::usable(tx, around, project, author, name)?;
    epic_issues::ensure_kept_secret(&epic, new.confidential)?;
    Ok(Some((epic.id, first_place(tx, epic.id)?)))
}

/// What somebody may say of a new issue who is no member.
fn for_strangers(new: NewIssue) -> NewIssue {
    NewIssue {
        title: new.title,
        description: new.description,
        issue_type: new.issue_type,
        confidential: new.confidential,
        follow_up: new.follow_up,
        origin: new.origin,
        ..NewIssue::default()
    }
}

/// Removes an issue, where it did not change since a moment.
///
/// # Errors
/// `NotFound` where it is not there.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<DeleteIssues>,
    iid: i64,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let found = tx.find_issue(grant.project(), iid)?;
    let issue = found.ok_or_else(|| Error::not_found("Issue"))?;
    issue.updated_at.ensure_unchanged_since(unless_newer)?;
    let blockers = tx.blockers_of(issue.id)?;
    if !store::delete(tx, issue.id)? {
        return Err(Error::not_found("Issue"));
    }
    for blocker in blockers {
        tx.count_blocked(blocker)?;
    }
    tx.emit(Event::IssueRemoved { issue: (&issue).into(), user: grant.user()? })
}

pub(super) fn ensure_fit(
    title: &str,
    description: Option<&str>,
    weight: Option<i64>,
) -> Result<()> {
    let mut faults = Faults::default();
    if title.trim().is_empty() {
        faults.add("title", "can't be blank");
    }
    faults.at_most("title", Some(title.trim()), LONGEST_TITLE);
    faults.at_most("description", description, LONGEST_DESCRIPTION);
    faults.range("weight", weight, 0..=LARGEST_INTEGER);
    faults.into_result()
}
