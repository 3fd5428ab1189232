//! Quick actions that reach beyond the fields of an item: time that is spent on it, other issues, and other projects.

use std::collections::BTreeSet;

use db::Tx;
use kernel::{
    Result, Standing, Ts,
    ids::{NamespaceId, UserId},
    time::parse_date,
};
use serde_json::{Value, json};

use super::apply::{ActionContext, ActionSummary, IssueTransfer, Row, find};
use crate::{
    epic::{self, EpicName, promotion},
    issue::{
        Issue, IssueState,
        link::{self, LinkType},
        relocation::{self, Notes},
    },
    item::{
        ItemKind, ItemStore as _,
        time::{self, SpentTime, actions as times},
    },
    iteration::actions::usable,
    merge_request::{ReviewState, ReviewerStore as _},
    ports::{Branches, Forge},
    reference::{ItemName, parse},
    todo::{TodoAction, TodoStore as _},
};

impl<F: Forge + Branches> ActionContext<'_, F> {
    pub(super) fn estimate(&mut self, tx: &mut Tx<'_>, wanted: bool, argument: &str) -> Result<()> {
        let seconds = if wanted { time::parse(argument) } else { Some(0) };
        let Some(seconds) = seconds.filter(|seconds| *seconds >= 0) else { return Ok(()) };
        times::set_estimate(tx, self.item, self.user, seconds)?;
        let summary = match time::human(seconds, false) {
            Some(span) => format!("Set time estimate to {span}."),
            None => "Removed time estimate.".to_owned(),
        };
        self.done.note("time_estimate", json!(seconds), summary);
        Ok(())
    }

    /// `1h 30m`, or `1h 30m 2026-12-31`
    pub(super) fn spend(&mut self, tx: &mut Tx<'_>, argument: &str) -> Result<()> {
        let (last, now) = (argument.rsplit_once(' '), tx.now);
        let dated = last.and_then(|(span, day)| Some((span, parse_date(day).ok()?)));
        let (span, at) = dated.map_or((argument, now), |(span, day)| (span, Ts::from_date(day)));
        let Some(seconds) = time::parse(span).filter(|seconds| *seconds != 0 && at <= now) else {
            return Ok(());
        };
        let spent = SpentTime { seconds, at, summary: None };
        if !has_effect(times::add(tx, self.item, self.user, &spent))? {
            return Ok(());
        }
        let told = json!({ "duration": seconds, "user_id": self.user.0, "spent_at": at });
        let span = time::human(seconds.saturating_abs(), false).unwrap_or_default();
        let word = if seconds < 0 { "Subtracted" } else { "Added" };
        self.done.note("spend_time", told, format!("{word} {span} spent time."));
        Ok(())
    }

    pub(super) fn relate(&mut self, tx: &mut Tx<'_>, of: LinkType, argument: &str) -> Result<()> {
        let Row::Issue(issue) = &self.row else { return Ok(()) };
        let names = parse(argument, self.forge.address()).items;
        let found = crate::reference::find_items(tx, self.forge, self.item, self.user, &names)?;
        let others = found.iter().filter(|(_, other)| other.id.kind == ItemKind::Issue);
        let mut ids = Vec::new();
        for (_, other) in others {
            let Some(project) = other.project() else { continue };
            let target = (project, other.iid);
            let linked = link::actions::create(tx, self.forge, &self.who, issue, target, of);
            if has_effect(linked)? {
                ids.push(other.id.id);
            }
        }
        if !ids.is_empty() {
            let summary = format!("Linked {argument} to this issue.");
            self.done.note("related_issues", json!(ids), summary);
        }
        Ok(())
    }

    /// Notes the issue that says the same already.
    pub(super) fn duplicate(&mut self, tx: &mut Tx<'_>, argument: &str) -> Result<()> {
        let names = parse(argument, self.forge.address()).items;
        let found = crate::reference::find_items(tx, self.forge, self.item, self.user, &names)?;
        let mut others = found.into_iter().map(|(_, other)| other);
        let other = others.rfind(|other| other.id.kind == ItemKind::Issue);
        let Some(other) = other.filter(|other| other.id != self.item.id) else { return Ok(()) };
        let Some(Row::Issue(original)) = find(tx, &other)? else { return Ok(()) };
        let summary =
            format!("Closed this issue. Marked as related to, and a duplicate of, {argument}.");
        self.done.note("canonical_issue_id", json!(original.id.0), summary);
        self.wanted.duplicate_of = Some(original);
        Ok(())
    }

    /// Whoever was asked to look at a merge request has done so.
    pub(super) fn submit_review(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let Row::MergeRequest(row) = &self.row else { return Ok(()) };
        let asked = tx.reviewers_of(&[row.id])?.remove(&row.id).unwrap_or_default();
        if asked.iter().any(|reviewer| reviewer.user_id == self.user) {
            tx.save_review_state(row.id, self.user, ReviewState::Reviewed)?;
            tx.finish_todos(self.item.id, self.user)?;
            for person in self.looking_after(tx)? {
                tx.raise_todo(self.item, person, self.user, TodoAction::ReviewSubmitted, None)?;
            }
            self.done.note("submit_review", json!(true), "Submitted the current review.");
        }
        Ok(())
    }

    /// The author of the item and whom it is given to, the speaker aside.
    fn looking_after(&self, tx: &mut Tx<'_>) -> Result<BTreeSet<UserId>> {
        let item = self.item.id;
        let given = tx.assignees_of(item.kind, &[item.id])?.remove(&item.id).unwrap_or_default();
        let all = given.into_iter().chain([self.item.author]);
        Ok(all.filter(|person| *person != self.user).collect())
    }

    /// Notes the project to which the issue goes, or a copy of it, once all else is done.
    pub(super) fn leave(&mut self, tx: &mut Tx<'_>, copies: bool, argument: &str) -> Result<()> {
        let (path, notes) = match argument.strip_suffix("--with_notes").filter(|_| copies) {
            Some(path) => (path.trim(), Notes::Copy),
            None => (argument, Notes::Leave),
        };
        let Some(project) = self.forge.project_at(tx, path)? else { return Ok(()) };
        self.wanted.leaves = Some(match copies {
            true => IssueTransfer::Copy(project, notes),
            false => IssueTransfer::Move(project),
        });
        Ok(())
    }

    /// Notes that the issue is to become an epic, once all else is done.
    pub(super) fn promote(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let Row::Issue(issue) = &self.row else { return Ok(()) };
        self.wanted.promoted = promotion::target(tx, self.forge, &self.who, issue)?;
        Ok(())
    }

    /// `&7`, of the group that the project is in, or `group&7`, of any group above it.
    pub(super) fn epic(&mut self, tx: &mut Tx<'_>, argument: &str) -> Result<()> {
        let names = parse(argument, self.forge.address()).items;
        let epic = |name: &ItemName| name.kind == ItemKind::Epic;
        let Some(name) = names.into_iter().find(epic) else { return Ok(()) };
        let name = match name.project {
            None => EpicName::Numbered(name.iid),
            Some(path) => {
                let Some(actor) = self.forge.actor(tx, self.user)? else { return Ok(()) };
                let Some(group) = self.forge.group_at(tx, actor, &path)? else { return Ok(()) };
                EpicName::Of(group, name.iid)
            }
        };
        let Some(project) = self.item.project() else { return Ok(()) };
        let found = epic::issues::usable(tx, self.forge, project, self.user, name);
        let Some(epic) = effect(found)? else { return Ok(()) };
        if epic.confidential && !self.item.confidential && !self.wanted.confidential {
            return Ok(());
        }
        self.wanted.epic = Some(Some(EpicName::Id(epic.id)));
        self.changed("epic_id", json!(epic.id), "Added an epic to this issue.");
        Ok(())
    }

    pub(super) fn remove_epic(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let Row::Issue(issue) = &self.row else { return Ok(()) };
        let Some(id) = issue.epic_id else { return Ok(()) };
        let (project, name) = (issue.project_id, EpicName::Anywhere(id));
        let found = epic::issues::usable(tx, self.forge, project, self.user, name);
        if effect(found)?.is_some() {
            self.wanted.epic = Some(None);
            self.changed("epic_id", Value::Null, "Removed an epic from this issue.");
        }
        Ok(())
    }

    /// `*iteration:7`
    pub(super) fn iteration(&mut self, tx: &mut Tx<'_>, argument: &str) -> Result<()> {
        let id = argument.strip_prefix("*iteration:").and_then(|id| id.parse().ok());
        let Some(id) = id else { return Ok(()) };
        let Some(project) = self.item.project() else { return Ok(()) };
        let found = usable(tx, self.forge, project, self.user, id);
        let Some(iteration) = effect(found)? else { return Ok(()) };
        self.wanted.iteration = Some(Some(iteration.id));
        let summary = format!("Set the iteration to *iteration:{}.", iteration.id);
        self.changed("iteration_id", json!(iteration.id), summary);
        Ok(())
    }

    pub(super) fn remove_iteration(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let Row::Issue(issue) = &self.row else { return Ok(()) };
        let Some(id) = issue.iteration_id else { return Ok(()) };
        let found = usable(tx, self.forge, issue.project_id, self.user, id);
        if effect(found)?.is_some() {
            self.wanted.iteration = Some(None);
            self.changed("iteration_id", Value::Null, "Removed the iteration.");
        }
        Ok(())
    }
}

pub(super) fn promote(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    group: NamespaceId,
    done: &mut ActionSummary,
) -> Result<()> {
    if issue.state == IssueState::Opened {
        promotion::promote(tx, forge, who, issue, group)?;
        done.note("promote_to_epic", json!(true), "Promoted issue to an epic.");
    }
    Ok(())
}

pub(super) fn leave(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    leaves: IssueTransfer,
    done: &mut ActionSummary,
) -> Result<()> {
    let (key, made) = match leaves {
        IssueTransfer::Move(to) => {
            ("target_project", relocation::relocate(tx, forge, who, issue, to))
        }
        IssueTransfer::Copy(to, notes) => {
            ("target_clone_project", relocation::copy(tx, forge, who, issue, to, notes))
        }
    };
    if let (IssueTransfer::Move(to) | IssueTransfer::Copy(to, _), true) =
        (leaves, has_effect(made)?)
    {
        let word = if key == "target_project" { "Moved" } else { "Cloned" };
        done.note(key, json!(to.0), format!("{word} this issue."));
    }
    Ok(())
}

/// What is refused has no effect; what fails fails.
fn effect<T>(done: Result<T>) -> Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(failure) if failure.is_ours() => Err(failure),
        Err(_) => Ok(None),
    }
}

fn has_effect<T>(done: Result<T>) -> Result<bool> {
    Ok(effect(done)?.is_some())
}
