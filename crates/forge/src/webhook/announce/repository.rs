//! Pushes, pages of wikis and comments on commits.

use admin::flags::Flag;
use db::Tx;
use kernel::{
    Result,
    ids::{CommitNoteId, ProjectId, UserId},
};
use org::{settings::store::SettingsStore as _, user::store::UserStore as _};
use repo::{
    commit::note::CommitNoteStore as _,
    event::{MovedRef, WikiAction},
    wiki::PageName,
};

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        gaps::{Gaps, NOTE_PLACE},
        occasion::occasion,
        payload::{self, note},
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &repo::Event) -> Result<()> {
    match fact {
        repo::Event::RefsMoved { project, user, moves, options, .. } => {
            pushed(tx, by, *project, *user, (moves, options))
        }
        repo::Event::WikiChanged { project: Some(project), user, action, path, commit, .. } => {
            wrote(tx, by, *project, *user, (*action, path, commit))
        }
        repo::Event::CommitCommented { project, user, note, .. } => {
            commented(tx, by, *project, (*user, "create"), *note)
        }
        repo::Event::CommitCommentChanged { project, user, note, .. } => {
            commented(tx, by, *project, (*user, "update"), *note)
        }
        _ => Ok(()),
    }
}

fn pushed(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    user: Option<UserId>,
    (moves, options): (&[MovedRef], &[String]),
) -> Result<()> {
    let flags = [Flag::Push, Flag::Commits, Flag::TagPush, Flag::RepositoryUpdate];
    let Some((context, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let user = user.map(|id| tx.find_user(id)).transpose()?.flatten();
    let (branches, tags): (Vec<&MovedRef>, Vec<&MovedRef>) = moves
        .iter()
        .filter(|moved| !moved.name.starts_with("refs/notes/"))
        .partition(|moved| moved.name.starts_with("refs/heads/"));
    // A push that moved more branches, or more tags, tells of none of them.
    let most = tx.settings()?.push_event_hooks_limit().unwrap_or_default();
    let most = usize::try_from(most).unwrap_or_default();
    let kinds = [
        (Flag::Push, "Push Hook", branches.clone()),
        // Trackers are told of commits alone, and only of those on branches.
        (Flag::Commits, "Push Hook", branches),
        (Flag::TagPush, "Tag Push Hook", tags),
    ];
    for (flag, header, moves) in kinds {
        if moves.len() > most || !audience.hears(flag) {
            continue;
        }
        let is_for_system = !audience.system(Some(flag)).is_empty();
        for moved in moves {
            let branch = moved.name.strip_prefix("refs/heads/");
            let occasion = occasion(tx, (&context, &audience), flag, branch)?;
            if !is_for_system && audience.receivers(flag, &occasion).is_empty() {
                continue;
            }
            let payload = payload::push::push(&context, user.as_ref(), moved, options);
            let gaps = Gaps::push(project, moved);
            let object = format!("ref/{}", moved.name);
            let news = |gaps, payload| News {
                flag,
                header,
                project: Some(project),
                object: object.clone(),
                payload,
                gaps,
            };
            by.tell(tx, &audience, news(Some(gaps), payload.clone()), &occasion)?;
            // System hooks are told of no commits, but of what a tag says.
            let message = (flag == Flag::TagPush).then(|| Gaps::tag(project, moved));
            by.tell_system(tx, &audience, news(message, payload), Some(flag))?;
        }
    }
    if audience.system(Some(Flag::RepositoryUpdate)).is_empty() {
        return Ok(());
    }
    let news = News {
        flag: Flag::RepositoryUpdate,
        header: admin::delivery::SYSTEM_HEADER,
        project: Some(project),
        object: format!("repository/{project}"),
        payload: payload::push::repository_update(&context, user.as_ref(), moves),
        gaps: None,
    };
    by.tell_system(tx, &audience, news, Some(Flag::RepositoryUpdate))
}

fn wrote(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    user: UserId,
    (action, path, commit): (WikiAction, &str, &str),
) -> Result<()> {
    let Some(page) = PageName::of(path).filter(|_| action != WikiAction::Attach) else {
        return Ok(());
    };
    let flags = [Flag::WikiPages];
    let Some((context, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let user = tx.find_user(user)?;
    let news = News {
        flag: Flag::WikiPages,
        header: "Wiki Page Hook",
        project: Some(project),
        object: format!("wiki/{}", page.slug),
        payload: payload::wiki::page(&context, user.as_ref(), &page, (action, commit)),
        gaps: Some(Gaps::wiki(project, path, commit, action == WikiAction::Delete)),
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}

fn commented(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    who: (UserId, &str),
    id: CommitNoteId,
) -> Result<()> {
    let Some((context, audience)) = by.place(tx, project, &[Flag::Notes])? else { return Ok(()) };
    let Some(row) = tx.commit_notes_by_id(&[id])?.pop() else { return Ok(()) };
    let news = News {
        flag: Flag::Notes,
        header: "Note Hook",
        project: Some(project),
        object: format!("commit_note/{id}"),
        payload: note::commit_note(tx, &context, &row, who)?,
        gaps: Gaps::note(
            Some(Gaps::commit(project, &row.sha, "/commit")),
            project,
            row.position.as_deref(),
            NOTE_PLACE,
        ),
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}
