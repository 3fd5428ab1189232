//! Moving issues to other projects, and copying them.

use std::collections::{BTreeSet, HashMap};

use db::{
    Tx, each_backend, error,
    schema::{award_emoji, notes},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Result, Standing, Ts,
    ids::{IssueId, MilestoneId, NoteId, ProjectId, UserId},
};

use super::{
    Issue, IssueStore,
    link::{LinkStore as _, actions::named},
    steps::close_for_successor,
    store,
};
use crate::{
    Event, Home,
    emoji::{AwardStore as _, AwardTarget, AwardedKind},
    item::{
        Item, ItemId, ItemKind, ItemStore as _, assignees, hold,
        labels::{self, LabelChange, UnknownLabels},
        time::TimeStore as _,
    },
    milestone::{MilestoneFilter, MilestoneStore as _},
    note::{Note, NoteStore as _, fresh_discussion, write_system_note_about},
    ports::Forge,
    reference::rewritten,
};

const SAME_PROJECT: &str = "Cannot move issue to project it originates from!";
const NOT_MOVED: &str = "Cannot move issue due to insufficient permissions!";
const NOT_CLONED: &str = "Cannot clone issue due to insufficient permissions!";

/// Whether what was said about an issue is copied with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    Copy,
    Leave,
}

/// Moves an issue to another project: there is a new one there, and the old one is closed and leads to it.
///
/// # Errors
/// `NotFound` where the project is not there for the caller; `BadRequest` for the issue's own project, for those who may
/// not manage issues in both, and for what was moved already.
pub fn relocate(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    to: ProjectId,
) -> Result<Issue> {
    let by = who.actor.user()?;
    let there = standing(tx, forge, who, to)?;
    if to == issue.project_id {
        return Err(Error::bad_request().whole(SAME_PROJECT));
    }
    ensure_manages_both(who, &there, NOT_MOVED)?;
    let gone = || Error::bad_request().whole(NOT_MOVED);
    if issue.moved_to_id.is_some() {
        return Err(gone());
    }
    hold_with_blockers(tx, issue.id)?;
    let new = copied(tx, forge, issue, to, (issue.author_id, issue.created_at), by)?;
    copy_notes(tx, forge, issue, &new.item())?;
    let (was, is) = (ItemId::from(issue.id), ItemId::from(new.id));
    copy_reactions(tx, was.into(), is.into(), Some(to))?;
    // Of two who move it at once, one does.
    let old = store::lead_on(tx, issue, new.id)?.ok_or_else(gone)?;
    let (there, here) = (named(tx, forge, &old, &new)?, named(tx, forge, &new, &old)?);
    write_system_note_about(tx, &old.item(), by, &format!("moved to {there}"), &new.item())?;
    write_system_note_about(tx, &new.item(), by, &format!("moved from {here}"), &old.item())?;
    take_links_along(tx, old.id, new.id)?;
    close_for_successor(tx, &old, issue, by)?;
    fresh(tx, new.id)
}

/// Nobody else changes an issue, or one that it waits for, before this transaction is over. In one order, so that of two
/// who move issues that wait for each other's neither waits half-way.
fn hold_with_blockers(tx: &mut Tx<'_>, issue: IssueId) -> Result<()> {
    let all: BTreeSet<IssueId> = tx.blockers_of(issue)?.into_iter().chain([issue]).collect();
    all.into_iter().try_for_each(|one| hold(tx, one.into()).map(drop))
}

/// What an issue has to do with others, it has at its new place from now on.
fn take_links_along(tx: &mut Tx<'_>, from: IssueId, to: IssueId) -> Result<()> {
    tx.reassign_links(from, to)?;
    let counted: BTreeSet<IssueId> = tx.blockers_of(to)?.into_iter().chain([from, to]).collect();
    counted.into_iter().try_for_each(|one| tx.count_blocked(one))
}

/// Makes a copy of an issue in a project, which may be its own.
///
/// # Errors
/// As of [`relocate`], the issue's own project aside.
pub fn copy(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    to: ProjectId,
    with: Notes,
) -> Result<Issue> {
    let by = who.actor.user()?;
    let there = standing(tx, forge, who, to)?;
    ensure_manages_both(who, &there, NOT_CLONED)?;
    let new = copied(tx, forge, issue, to, (by, tx.now), by)?;
    if with == Notes::Copy {
        copy_notes(tx, forge, issue, &new.item())?;
    }
    let (there, here) = (named(tx, forge, issue, &new)?, named(tx, forge, &new, issue)?);
    write_system_note_about(tx, &issue.item(), by, &format!("cloned to {there}"), &new.item())?;
    write_system_note_about(tx, &new.item(), by, &format!("cloned from {here}"), &issue.item())?;
    fresh(tx, new.id)
}

fn fresh(tx: &mut Tx<'_>, id: IssueId) -> Result<Issue> {
    tx.find_issue_by_id(id)?.ok_or_else(Error::missing)
}

fn standing(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    project: ProjectId,
) -> Result<Standing> {
    let found = forge.standings_in(tx, who.actor, &[project])?.remove(&project);
    found.filter(|there| there.visible).ok_or_else(|| Error::not_found("Project"))
}

fn ensure_manages_both(here: &Standing, there: &Standing, refusal: &str) -> Result<()> {
    let manages = |who: &Standing| {
        who.writes(AccessLevel::Reporter) && who.reads(kernel::Feature::Issues, AccessLevel::Guest)
    };
    if manages(here) && manages(there) {
        Ok(())
    } else {
        Err(Error::bad_request().whole(refusal.to_owned()))
    }
}

/// A new issue that says the same, with what of it there is in its project.
fn copied(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    issue: &Issue,
    to: ProjectId,
    (author, created_at): (UserId, Ts),
    by: UserId,
) -> Result<Issue> {
    let texts = issue.description.clone().into_iter().collect();
    let description = rewritten(tx, forge, issue.project_id, Home::Project(to), texts)?.pop();
    let row = store::IssueRow {
        project: to,
        iid: store::next_iid(tx, to, None)?,
        title: issue.title.clone(),
        description,
        issue_type: issue.issue_type,
        severity: issue.severity,
        author,
        confidential: issue.confidential,
        discussion_locked: issue.discussion_locked,
        milestone: milestone(tx, forge, issue, to)?,
        epic: None,
        epic_position: None,
        iteration: None,
        weight: issue.weight,
        health_status: issue.health_status,
        due_date: issue.due_date,
        created_at,
    };
    let mut new = store::insert(tx, &row)?;
    new.time_estimate = tx.save_estimate(new.id.into(), issue.time_estimate)?.estimate;
    new.updated_at = tx.now;
    let (item, old) = (new.item(), ItemId::from(issue.id));
    let names = tx.labels_of(old.kind, &[old.id])?.remove(&old.id).unwrap_or_default();
    let names = names.into_iter().map(|label| label.name).collect();
    let change = LabelChange { all: Some(names), ..LabelChange::default() };
    let chosen =
        labels::chosen(tx, forge, Home::Project(to), &[], &change, UnknownLabels::LeaveOut)?;
    labels::keep(tx, item.id, &[], &chosen)?;
    let people = tx.assignees_of(old.kind, &[old.id])?.remove(&old.id).unwrap_or_default();
    if let Some(people) = assignees::chosen(tx, forge, &item, &people)? {
        assignees::keep(tx, &item, &[], &people)?;
    }
    tx.emit(Event::opened(&new, &chosen, by))?;
    Ok(new)
}

/// The milestone of the same name that can be used there, or the same where it is a group's above both.
fn milestone(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    issue: &Issue,
    to: ProjectId,
) -> Result<Option<MilestoneId>> {
    let Some(id) = issue.milestone_id else { return Ok(None) };
    let Some(old) = tx.milestones_by_id(&[id])?.pop() else { return Ok(None) };
    let groups = forge.above(tx, Home::Project(to))?;
    let within = MilestoneFilter {
        projects: vec![to],
        groups,
        title: Some(old.title),
        ..MilestoneFilter::default()
    };
    let page = kernel::page::PageRequest::default();
    Ok(tx.milestones(&within, page)?.items.first().map(|found| found.id))
}

/// Copies all that was said about an issue, with its threads, to another.
pub(crate) fn copy_notes(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    from: &Issue,
    to: &Item,
) -> Result<()> {
    let rows = notes::table
        .filter(notes::item_kind.eq(ItemKind::Issue).and(notes::item_id.eq(from.id.0)))
        .order(notes::id);
    let source = (notes::source_kind, notes::source_id, notes::source_project_id);
    type Source = (Option<ItemKind>, Option<i64>, Option<ProjectId>);
    let all: Vec<(Note, Source)> = each_backend!(tx, |conn| rows
        .select((Note::as_select(), source))
        .load(conn)
        .map_err(error("Note")))?;
    let texts = all.iter().map(|(note, _)| note.body.clone()).collect();
    let bodies = rewritten(tx, forge, from.project_id, to.home, texts)?;
    let mut threads: HashMap<String, String> = HashMap::new();
    let mut said = 0;
    for ((note, source), body) in all.into_iter().zip(bodies) {
        let thread = threads.entry(note.discussion).or_insert_with(fresh_discussion).clone();
        let row = (
            notes::item_kind.eq(to.id.kind),
            notes::item_id.eq(to.id.id),
            notes::project_id.eq(to.project()),
            notes::discussion.eq(thread),
            notes::note_type.eq(note.note_type),
            notes::body.eq(body),
            notes::author_id.eq(note.author_id),
            notes::is_system.eq(note.is_system),
            notes::internal.eq(note.internal),
            notes::source_kind.eq(source.0),
            notes::source_id.eq(source.1),
            notes::source_project_id.eq(source.2),
            notes::created_at.eq(note.created_at),
            notes::updated_at.eq(note.updated_at),
        );
        let row = diesel::insert_into(notes::table).values(row).returning(notes::id);
        let id: NoteId = each_backend!(tx, |conn| row.get_result(conn).map_err(error("Note")))?;
        let on_note = |id: NoteId| AwardTarget { kind: AwardedKind::Note, id: id.0 };
        copy_reactions(tx, on_note(note.id), on_note(id), to.project())?;
        said += i64::from(!note.is_system && !note.internal);
    }
    tx.add_to_notes_count(to.id, said)
}

/// Copies the reactions to one thing to another of its kind.
fn copy_reactions(
    tx: &mut Tx<'_>,
    from: AwardTarget,
    to: AwardTarget,
    project: Option<ProjectId>,
) -> Result<()> {
    type Row = (UserId, String, kernel::Ts, kernel::Ts);
    let all = award_emoji::table
        .filter(award_emoji::item_kind.eq(from.kind).and(award_emoji::item_id.eq(from.id)))
        .order(award_emoji::id)
        .select((
            award_emoji::user_id,
            award_emoji::name,
            award_emoji::created_at,
            award_emoji::updated_at,
        ));
    let all: Vec<Row> = each_backend!(tx, |conn| all.load(conn).map_err(error("Award Emoji")))?;
    for (user, name, created_at, updated_at) in all {
        let row = (
            award_emoji::project_id.eq(project),
            award_emoji::item_kind.eq(to.kind),
            award_emoji::item_id.eq(to.id),
            award_emoji::user_id.eq(user),
            award_emoji::name.eq(name),
            award_emoji::created_at.eq(created_at),
            award_emoji::updated_at.eq(updated_at),
        );
        let row = diesel::insert_into(award_emoji::table).values(row).on_conflict_do_nothing();
        each_backend!(tx, |conn| row.execute(conn).map_err(error("Award Emoji")))?;
    }
    tx.count_votes(to)
}
