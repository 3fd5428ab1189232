//! Issues that go on with what threads of a merge request began.

use db::{Tx, each_backend, error, schema::notes};
use diesel::prelude::*;
use kernel::{
    Ability as _, AccessLevel, Error, Result, Standing,
    ids::{NoteId, ProjectId, UserId},
};

use super::Issue;
use crate::{
    item::ItemId,
    merge_request::{MergeRequest, MergeRequestStore as _},
    note::{Discussion, NewRow, Note, NoteStore as _, resolution},
    policy::ReadMergeRequests,
    ports::Forge,
};

/// Which threads are to go on in an issue.
#[derive(Clone, Debug, Default)]
pub struct FollowUp {
    /// The number of a merge request of the same project.
    pub merge_request: Option<i64>,
    /// Only this one; all that are open, without it.
    pub discussion: Option<String>,
}

/// The threads that go on.
#[derive(Clone, Debug)]
pub struct Threads {
    request: MergeRequest,
    all: Vec<Discussion>,
}

/// The threads that are meant, as far as the caller may read them; nothing where none are asked for.
///
/// # Errors
/// `NotFound` for merge requests that the caller may not read.
pub fn find(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: ProjectId,
    wanted: &FollowUp,
) -> Result<Option<Threads>> {
    let Some(iid) = wanted.merge_request else {
        return match wanted.discussion {
            None => Ok(None),
            Some(_) => {
                let missing = "merge_request_to_resolve_discussions_of is missing".to_owned();
                Err(Error::bad_request().parameters(missing))
            }
        };
    };
    let found = tx.find_merge_request(project, iid)?.filter(|_| ReadMergeRequests::allows(who));
    let request = found.ok_or_else(Error::missing)?;
    let mut all = threads(tx, who, &request)?;
    match &wanted.discussion {
        None => all.retain(|thread| !thread.is_resolved()),
        Some(id) => {
            all.retain(|thread| thread.id == *id);
            if all.is_empty() {
                return Err(Error::not_found("Discussion"));
            }
        }
    }
    Ok(Some(Threads { request, all }))
}

/// The threads that can be settled and that somebody may read, in the order in which they began.
fn threads(tx: &mut Tx<'_>, who: &Standing, request: &MergeRequest) -> Result<Vec<Discussion>> {
    let item = ItemId::from(request.id);
    let said = notes::table
        .filter(notes::item_kind.eq(item.kind).and(notes::item_id.eq(item.id)))
        .filter(notes::note_type.is_not_null().and(notes::is_system.eq(false)))
        .order(notes::id);
    let said: Vec<Note> =
        each_backend!(tx, |conn| said.select(Note::as_select()).load(conn).map_err(error("Note")))?;
    let mut all: Vec<Discussion> = Vec::new();
    for note in said {
        if note.internal && !who.is(AccessLevel::Reporter) {
            continue;
        }
        match all.iter_mut().find(|thread| thread.id == note.discussion) {
            Some(thread) => thread.notes.push(note),
            None => all.push(Discussion { id: note.discussion.clone(), notes: vec![note] }),
        }
    }
    Ok(all)
}

/// What the issue says where nobody said anything else: each thread as something to be done.
pub fn description(tx: &mut Tx<'_>, forge: &impl Forge, threads: &Threads) -> Result<String> {
    let Threads { request, all } = threads;
    let authors: Vec<UserId> =
        all.iter().filter_map(to_address).map(|note| note.author_id).collect();
    let names = forge.names(tx, &authors)?;
    let paths = forge.paths(tx, &[request.project_id])?;
    let path = paths.get(&request.project_id).map_or("", String::as_str);
    let page = format!("{}/{path}/-/merge_requests/{}", forge.address(), request.iid);
    let noun = if all.len() == 1 { "discussion" } else { "discussions" };
    let mut parts =
        vec![format!("The following {noun} from !{} should be addressed:", request.iid)];
    for thread in all {
        let Some(note) = to_address(thread) else { continue };
        let is_first = thread.notes.first().is_some_and(|first| first.id == note.id);
        let did = if is_first { "started" } else { "commented on" };
        let name = names.get(&note.author_id).map_or("ghost", String::as_str);
        let others = match thread.notes.len() {
            0 | 1 => String::new(),
            2 => "(+1 comment)".to_owned(),
            more => format!("(+{} comments)", more - 1),
        };
        parts
            .push(format!("- [ ] @{name} {did} a [discussion]({page}#note_{}): {others}", note.id));
        let quoted: Vec<String> = note.body.lines().map(|line| format!("    > {line}")).collect();
        parts.push(quoted.join("\n"));
    }
    Ok(parts.join("\n\n"))
}

/// The first note of a thread that is not settled.
fn to_address(thread: &Discussion) -> Option<&Note> {
    thread.notes.iter().find(|note| !note.is_resolved()).or(thread.notes.first())
}

/// Settles the threads where the caller may, and tells in them where they go on.
pub fn resolve_threads(
    tx: &mut Tx<'_>,
    who: &Standing,
    user: UserId,
    threads: &Threads,
    issue: &Issue,
) -> Result<()> {
    let item = threads.request.item();
    if item.author != user && !who.is(AccessLevel::Developer) {
        return Ok(());
    }
    let told = format!("created #{} to continue this discussion", issue.iid);
    let mut open: Vec<NoteId> = Vec::new();
    for thread in threads.all.iter().filter(|thread| !thread.is_resolved()) {
        open.extend(thread.notes.iter().filter(|note| !note.is_resolved()).map(|note| note.id));
        let row = NewRow {
            discussion: &thread.id,
            note_type: None,
            body: &told,
            author: user,
            is_system: true,
            internal: thread.notes.iter().any(|note| note.internal),
            position: None,
            commit_id: None,
            resolved_by: None,
            source: Some((issue.id.into(), Some(issue.project_id))),
            at: tx.now,
        };
        tx.insert_note(&item, &row)?;
    }
    resolution::set(tx, &item, &open, user, true)
}
