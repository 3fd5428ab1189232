//! System notes, to-dos and feed entries that follow from events.

use std::any::Any;

use db::Tx;
use kernel::{
    Error, Result, Ts,
    event::Event,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::settings::store::SettingsStore as _;
use repo::{event::WikiAction, push::journal::PushAction, wiki::PageName};
use review::{
    activity::{
        Action, ActivityStore as _, COMMIT_NOTE, NewActivity, PushDetails, RefAction, RefType,
        WIKI_PAGE, WikiPageDetails,
    },
    on_event,
};
use serde::Serialize;

use crate::ports::directory::Directory;

/// Heard before the commit, in the same transaction.
pub(crate) fn on_event(tx: &mut Tx<'_>, directory: &Directory, fact: &dyn Event) -> Result<()> {
    let fact: &dyn Any = fact;
    if let Some(fact) = fact.downcast_ref() {
        return on_event::of_issues(tx, directory, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return on_event::of_merge_requests(tx, directory, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return on_event::of_epics(tx, directory, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_members(tx, fact);
    }
    if let Some(fact) = fact.downcast_ref() {
        return of_projects(tx, fact);
    }
    match fact.downcast_ref() {
        Some(repo::Event::RefsMoved { project, user: Some(user), moves, .. }) => {
            pushed(tx, *project, *user, moves)
        }
        Some(repo::Event::WikiChanged { project, group, user, action, path, .. }) => {
            wrote(tx, (*project, *group), *user, *action, path)
        }
        Some(repo::Event::CommitCommented { project, user, note, .. }) => {
            let line = NewActivity {
                target_type: Some(COMMIT_NOTE.to_owned()),
                target_id: Some(note.0),
                target_iid: Some(note.0),
                ..line(tx, *project, *user, Action::Commented)
            };
            tx.insert_activity(&line)
        }
        Some(repo::Event::CommitCommentRemoved { note, .. }) => {
            tx.delete_activity_of_commit_note(*note)
        }
        _ => Ok(()),
    }
}

fn of_members(tx: &mut Tx<'_>, fact: &org::member::Event) -> Result<()> {
    let action = match fact {
        org::member::Event::Added(_) => Action::Joined,
        org::member::Event::Removed { .. } => Action::Left,
        _ => return Ok(()),
    };
    let fact = fact.fact();
    let Some(project) = fact.project.filter(|_| !fact.is_archived) else { return Ok(()) };
    let line = line(tx, project, fact.user, action);
    tx.insert_activity(&line)
}

fn of_projects(tx: &mut Tx<'_>, fact: &org::project::event::Event) -> Result<()> {
    let org::project::event::Event::ProjectCreated { project, creator, name, .. } = fact else {
        return Ok(());
    };
    let now = tx.now;
    created(tx, *project, *creator, name, now)
}

/// Tells the feeds who made a project, and when.
pub(crate) fn created(
    tx: &mut Tx<'_>,
    project: ProjectId,
    creator: UserId,
    name: &str,
    at: Ts,
) -> Result<()> {
    let line = NewActivity {
        target_type: Some("Project".to_owned()),
        target_id: Some(project.0),
        target_title: Some(name.to_owned()),
        created_at: at,
        ..line(tx, project, creator, Action::Created)
    };
    tx.insert_activity(&line)
}

/// Attachments of wikis are not told of.
fn wrote(
    tx: &mut Tx<'_>,
    (project, group): (Option<ProjectId>, Option<NamespaceId>),
    user: UserId,
    action: WikiAction,
    path: &str,
) -> Result<()> {
    let action = match action {
        WikiAction::Create => Action::Created,
        WikiAction::Update => Action::Updated,
        WikiAction::Delete => Action::Destroyed,
        WikiAction::Attach => return Ok(()),
    };
    let Some(page) = PageName::of(path) else { return Ok(()) };
    let title = page.title();
    let format = page.markup.as_str().to_owned();
    let details = WikiPageDetails { format, slug: page.slug, title: title.clone() };
    let line = NewActivity {
        target_type: Some(WIKI_PAGE.to_owned()),
        target_title: Some(title),
        details: Some(text_of(&details)?),
        namespace_id: group,
        ..line(tx, project, user, action)
    };
    tx.insert_activity(&line)
}

fn line(
    tx: &Tx<'_>,
    project: impl Into<Option<ProjectId>>,
    author: UserId,
    action: Action,
) -> NewActivity {
    NewActivity {
        project_id: project.into(),
        namespace_id: None,
        author_id: author,
        action,
        target_type: None,
        target_id: None,
        target_iid: None,
        target_title: None,
        item_kind: None,
        item_id: None,
        note_id: None,
        details: None,
        created_at: tx.now,
    }
}

/// More refs of one push than the settings say are told of together.
fn pushed(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: UserId,
    moves: &[repo::event::MovedRef],
) -> Result<()> {
    let limit = tx.settings()?.push_event_activities_limit().unwrap_or_default();
    let bulk = i64::try_from(moves.len()).unwrap_or(i64::MAX) > limit;
    let shown = if bulk { 1 } else { moves.len() };
    for moved in moves.iter().take(shown) {
        let (ref_type, name) = match moved.name.strip_prefix("refs/tags/") {
            Some(name) => (RefType::Tag, name),
            None => {
                (RefType::Branch, moved.name.strip_prefix("refs/heads/").unwrap_or(&moved.name))
            }
        };
        let details = PushDetails {
            commit_count: moved.commit_count,
            action: match moved.action {
                PushAction::Created => RefAction::Created,
                PushAction::Pushed => RefAction::Pushed,
                PushAction::Removed => RefAction::Removed,
            },
            ref_type,
            commit_from: moved.before.clone(),
            commit_to: moved.after.clone(),
            ref_name: (!bulk).then(|| name.to_owned()),
            commit_title: moved.commit_title.clone(),
            ref_count: bulk.then_some(moves.len()),
        };
        let details = Some(text_of(&details)?);
        let line = NewActivity { details, ..line(tx, project, user, Action::Pushed) };
        tx.insert_activity(&line)?;
    }
    Ok(())
}

fn text_of(details: &impl Serialize) -> Result<String> {
    serde_json::to_string(details).map_err(Error::internal)
}
