//! Linking issues, and taking links away.

use db::Tx;
use kernel::{
    AccessLevel, Error, Result, Standing,
    ids::{ProjectId, UserId},
};

use super::{
    IssueLink, LinkStore, LinkType,
    event::{Event, Fact},
};
use crate::{
    issue::{Issue, IssueStore},
    item::{is_readable_by, reading::readable},
    note::write_system_note_about,
    ports::Forge,
};

const NO_MATCH: &str = "No matching issue found. Make sure that you are adding a valid issue URL.";
const ASSIGNED: &str = "Issue(s) already assigned";
const NOT_ALLOWED: &str =
    "Couldn't link issues. You must have at least the Guest role in both projects.";

/// A link as seen from one of its ends.
#[derive(Clone, Debug)]
pub struct RelatedIssue {
    pub issue: Issue,
    pub link: IssueLink,
    /// What the issue that was asked for is to this one.
    pub link_type: LinkType,
}

/// The two ends of a link that was made or shown.
#[derive(Clone, Debug)]
pub struct LinkWithIssues {
    pub link: IssueLink,
    pub source: Issue,
    pub target: Issue,
}

/// The issues that have to do with one and that the caller may read.
pub fn list(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
) -> Result<Vec<RelatedIssue>> {
    let links = tx.links_of(issue.id)?;
    let ids: Vec<i64> = links.iter().map(|link| link.seen_from(issue.id).0.0).collect();
    let others = tx.issues_in_order(&ids)?;
    let items: Vec<_> = others.iter().map(|other| (other.id.into(), other.project_id)).collect();
    let seen = readable(tx, forge, who.actor, &items)?;
    let mut found = Vec::new();
    for (link, other) in links.iter().filter_map(|link| {
        let id = link.seen_from(issue.id).0;
        Some((link, others.iter().find(|other| other.id == id)?))
    }) {
        if seen.contains(&other.id.into()) {
            let link_type = link.seen_from(issue.id).1;
            found.push(RelatedIssue { issue: other.clone(), link: link.clone(), link_type });
        }
    }
    Ok(found)
}

/// Links an issue to another one.
///
/// # Errors
/// `NotFound` where the other one is not there for the caller; `Forbidden` for those who may not manage both; `Conflict`
/// where the two are linked already.
pub fn create(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    target: (ProjectId, i64),
    link_type: LinkType,
) -> Result<LinkWithIssues> {
    let by = who.actor.user()?;
    let (there, other) = other_end(tx, forge, who, target)?;
    let manages = |who: &Standing| who.writes(AccessLevel::Reporter);
    if !manages(who) || !manages(&there) {
        return Err(Error::forbidden().whole(NOT_ALLOWED));
    }
    if other.id == issue.id {
        let text = format!("#{} cannot be added: cannot be related to itself", issue.iid);
        return Err(Error::unprocessable().whole(text));
    }
    if tx.find_link_between(issue.id, other.id)?.is_some() {
        return Err(Error::conflict().whole(ASSIGNED));
    }
    let (source, goal, kept) = match link_type {
        LinkType::IsBlockedBy => (&other, issue, LinkType::Blocks),
        kept => (issue, &other, kept),
    };
    let link = tx.insert_link(source.id, goal.id, kept)?;
    if kept == LinkType::Blocks {
        tx.count_blocked(source.id)?;
    }
    add_system_notes(tx, forge, by, issue, &other, link_type)?;
    add_system_notes(tx, forge, by, &other, issue, link_type.reversed())?;
    let linked = ends(tx, link)?;
    tx.emit(Event::IssuesLinked(Fact::new(&linked, by)))?;
    Ok(linked)
}

/// The issue at the other end, and how the caller stands where it is.
fn other_end(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    (project, iid): (ProjectId, i64),
) -> Result<(Standing, Issue)> {
    let nothing = || Error::missing().whole(NO_MATCH);
    let there = forge.standings_in(tx, who.actor, &[project])?.remove(&project);
    let there = there.ok_or_else(nothing)?;
    let other = tx.find_issue(project, iid)?.ok_or_else(nothing)?;
    match is_readable_by(tx, &there, &other.item())? {
        true => Ok((there, other)),
        false => Err(nothing()),
    }
}

/// A link of an issue, of which the caller may read both ends.
///
/// # Errors
/// `NotFound` where it is not there, or the other end is not for the caller.
pub fn read(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    id: i64,
) -> Result<LinkWithIssues> {
    let link = tx.find_link(issue.id, id)?.ok_or_else(Error::missing)?;
    let linked = ends(tx, link)?;
    let items = [&linked.source, &linked.target].map(|end| (end.id.into(), end.project_id));
    let seen = readable(tx, forge, who.actor, &items)?;
    if items.iter().all(|(id, _)| seen.contains(id)) {
        Ok(linked)
    } else {
        Err(Error::missing().whole("No Issue Link found"))
    }
}

/// Takes a link away.
pub fn remove(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    id: i64,
) -> Result<LinkWithIssues> {
    let linked = read(tx, forge, who, issue, id)?;
    if !who.writes(AccessLevel::Reporter) {
        return Err(Error::forbidden());
    }
    tx.delete_link(id)?;
    tx.count_blocked(linked.source.id)?;
    let by = who.actor.user()?;
    for (one, other) in [(&linked.source, &linked.target), (&linked.target, &linked.source)] {
        let name = named(tx, forge, one, other)?;
        let told = format!("removed the relation with {name}");
        write_system_note_about(tx, &one.item(), by, &told, &other.item())?;
    }
    tx.emit(Event::IssuesUnlinked(Fact::new(&linked, by)))?;
    ends(tx, linked.link)
}

fn ends(tx: &mut Tx<'_>, link: IssueLink) -> Result<LinkWithIssues> {
    let mut of = |id| tx.find_issue_by_id(id)?.ok_or_else(Error::missing);
    Ok(LinkWithIssues { source: of(link.source_id)?, target: of(link.target_id)?, link })
}

fn add_system_notes(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    by: UserId,
    one: &Issue,
    other: &Issue,
    link_type: LinkType,
) -> Result<()> {
    let name = named(tx, forge, one, other)?;
    let told = match link_type {
        LinkType::RelatesTo => format!("marked this issue as related to {name}"),
        LinkType::Blocks => format!("marked this issue as blocking {name}"),
        LinkType::IsBlockedBy => format!("marked this issue as blocked by {name}"),
    };
    write_system_note_about(tx, &one.item(), by, &told, &other.item())
}

/// An issue as texts in the project of another name it.
pub(crate) fn named(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    from: &Issue,
    issue: &Issue,
) -> Result<String> {
    if from.project_id == issue.project_id {
        return Ok(format!("#{}", issue.iid));
    }
    let path = forge.paths(tx, &[issue.project_id])?.remove(&issue.project_id);
    Ok(format!("{}#{}", path.unwrap_or_default(), issue.iid))
}

/// An issue was closed or opened: what it waits for blocks one less or one more.
pub(crate) fn state_changed(tx: &mut Tx<'_>, issue: &Issue) -> Result<()> {
    for blocker in tx.blockers_of(issue.id)? {
        tx.count_blocked(blocker)?;
    }
    Ok(())
}
