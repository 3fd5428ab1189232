//! The issues of an epic.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Grant, Result,
    ids::{IssueId, NamespaceId, ProjectId, UserId},
};

use super::{Epic, EpicStore as _, actions::find, order, readable};
use crate::{
    Home,
    issue::{
        self, Issue, IssueStore as _,
        actions::{IssueChange, read},
        order::Neighbors,
    },
    policy::ManageGroupEpics,
    ports::{Forge, GroupHierarchy, People},
};

/// The id or reference by which a caller names an epic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpicName {
    Id(i64),
    /// The id of one that need not be of a group above the project.
    Anywhere(i64),
    /// Its number in the group that the project is in.
    Numbered(i64),
    /// Its number in a group.
    Of(NamespaceId, i64),
}

/// Lets an issue work towards an epic.
///
/// # Errors
/// `NotFound` for an issue that the caller may not read; `Forbidden` for those who may not manage it; `Conflict` where it is in the epic already.
pub fn add(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    issue: IssueId,
) -> Result<(Epic, Issue)> {
    let epic = find(tx, grant.group(), grant.who(), iid)?;
    let issue = manageable(tx, grant.actor(), forge, issue)?;
    if issue.epic_id == Some(epic.id) {
        return Err(Error::conflict().whole("Issue(s) already assigned"));
    }
    let asked =
        IssueChange { epic: Some(Some(EpicName::Anywhere(epic.id))), ..IssueChange::default() };
    let issue = issue::actions::change(tx, grant.user()?, forge, issue, &asked)?;
    Ok((epic, issue))
}

/// Takes an issue out of an epic.
///
/// # Errors
/// As of [`add`]; `NotFound` for an issue of another epic, or of none.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    issue: IssueId,
) -> Result<(Epic, Issue)> {
    let (epic, issue) = inside(tx, grant, forge, iid, issue)?;
    let asked = IssueChange { epic: Some(None), ..IssueChange::default() };
    let issue = issue::actions::change(tx, grant.user()?, forge, issue, &asked)?;
    Ok((epic, issue))
}

/// Puts an issue elsewhere among those of its epic.
///
/// # Errors
/// As of [`remove`]; `NotFound` also where what it is to stand beside is not in the epic.
pub fn reorder(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    issue: IssueId,
    between: Neighbors,
) -> Result<Epic> {
    let (epic, issue) = inside(tx, grant, forge, iid, issue)?;
    match order::place(tx, epic.id, issue.id, between)? {
        true => Ok(epic),
        false => Err(Error::missing()),
    }
}

fn inside(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    issue: IssueId,
) -> Result<(Epic, Issue)> {
    let epic = find(tx, grant.group(), grant.who(), iid)?;
    let issue = manageable(tx, grant.actor(), forge, issue)?;
    match issue.epic_id == Some(epic.id) {
        true => Ok((epic, issue)),
        false => Err(Error::missing()),
    }
}

/// An issue by its id, for somebody who may manage it.
fn manageable(tx: &mut Tx<'_>, actor: Actor, forge: &impl Forge, id: IssueId) -> Result<Issue> {
    let issue = tx.find_issue_by_id(id)?.ok_or_else(Error::missing)?;
    let standings = forge.standings_in(tx, actor, &[issue.project_id])?;
    let who = standings.get(&issue.project_id).ok_or_else(Error::missing)?;
    let issue = read(tx, who, issue.project_id, issue.iid)?;
    if who.writes(AccessLevel::Reporter) { Ok(issue) } else { Err(Error::forbidden()) }
}

/// The epic that somebody gives an issue of a project: one of a group above it.
///
/// # Errors
/// `NotFound` for any other, and for one that they may not read; `Forbidden` for those who do not report in its group.
pub fn usable(
    tx: &mut Tx<'_>,
    around: &(impl GroupHierarchy + People),
    project: ProjectId,
    by: UserId,
    name: EpicName,
) -> Result<Epic> {
    let groups = around.above(tx, Home::Project(project))?;
    let id = match (name, groups.first()) {
        (EpicName::Id(id) | EpicName::Anywhere(id), _) => Some(id),
        (EpicName::Of(group, iid), _) => tx.find_epic(group, iid)?.map(|epic| epic.id),
        (EpicName::Numbered(iid), Some(group)) => tx.find_epic(*group, iid)?.map(|epic| epic.id),
        (EpicName::Numbered(_), None) => None,
    };
    let id = id.ok_or_else(Error::missing)?;
    let actor = actor(tx, around, project, by)?;
    let found = readable(tx, around, actor, &[id])?.pop();
    let anywhere = matches!(name, EpicName::Anywhere(_));
    let near = |epic: &Epic| anywhere || groups.contains(&epic.namespace_id);
    let epic = found.filter(near).ok_or_else(Error::missing)?;
    ensure_reports(tx, around, actor, epic.namespace_id)?;
    Ok(epic)
}

/// The epic of an issue after a change. What somebody may not read stays as it is.
pub(crate) fn after(
    tx: &mut Tx<'_>,
    around: &(impl GroupHierarchy + People),
    by: UserId,
    issue: &Issue,
    asked: Option<Option<EpicName>>,
    confidential: bool,
) -> Result<Option<i64>> {
    if let Some(Some(name)) = asked {
        let epic = usable(tx, around, issue.project_id, by, name)?;
        ensure_kept_secret(&epic, confidential)?;
        return Ok(Some(epic.id));
    }
    let becomes_open = issue.confidential && !confidential;
    let Some(id) = issue.epic_id.filter(|_| asked.is_some() || becomes_open) else {
        return Ok(issue.epic_id);
    };
    let actor = actor(tx, around, issue.project_id, by)?;
    let Some(epic) = readable(tx, around, actor, &[id])?.pop() else { return Ok(Some(id)) };
    if asked.is_some() {
        ensure_reports(tx, around, actor, epic.namespace_id)?;
        return Ok(None);
    }
    ensure_kept_secret(&epic, confidential)?;
    Ok(Some(id))
}

fn actor(tx: &mut Tx<'_>, people: &impl People, project: ProjectId, user: UserId) -> Result<Actor> {
    let standing = people.standings(tx, project, &[user])?.pop();
    standing.map(|standing| standing.actor).ok_or_else(Error::forbidden)
}

fn ensure_reports(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    actor: Actor,
    group: NamespaceId,
) -> Result<()> {
    let reports = actor.admin || places.level_in(tx, actor, group)? >= AccessLevel::Reporter;
    if reports { Ok(()) } else { Err(Error::forbidden()) }
}

/// A confidential epic has no issues that everybody reads.
pub(crate) fn ensure_kept_secret(epic: &Epic, confidential: bool) -> Result<()> {
    match epic.confidential && !confidential {
        true => Err(Error::invalid(
            "issue",
            "Cannot set confidential epic for a non-confidential issue",
        )),
        false => Ok(()),
    }
}
