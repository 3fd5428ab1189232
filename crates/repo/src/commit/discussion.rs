//! Discussions of commits: threads of notes.

use std::collections::HashMap;

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::commit_notes};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Grant, Result, Ts,
    ids::{CommitNoteId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::note::{self, CommitNote, CommitNoteType, LineAt, NewNote, Thread};
use crate::{
    Event,
    git::Oid,
    policy::{CommentOnCommit, ReadCommitDiscussions},
};

/// Notes about a commit that answer each other, oldest first.
#[derive(Clone, Debug)]
pub struct CommitDiscussion {
    pub id: String,
    pub notes: Vec<CommitNote>,
}

impl CommitDiscussion {
    /// Whether it is a plain comment, which nobody can answer.
    pub fn is_individual(&self) -> bool {
        self.notes.first().is_none_or(|note| note.note_type.is_none())
    }

    fn note(&self, id: CommitNoteId) -> Result<&CommitNote> {
        self.notes.iter().find(|note| note.id == id).ok_or_else(|| Error::not_found("Note"))
    }
}

/// A place in the diff of a commit, as JSON, and the line that it means.
#[derive(Clone, Debug)]
pub struct DiffPosition {
    pub position: String,
    pub line: Option<LineAt>,
}

/// The text and time of a new comment.
#[derive(Clone, Debug)]
pub struct NewComment {
    pub body: String,
    /// Heeded from owners and administrators.
    pub created_at: Option<Ts>,
}

/// A page of the discussions about a commit, oldest first.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadCommitDiscussions>,
    sha: Oid,
    page: PageRequest,
) -> Result<Page<CommitDiscussion>> {
    tx.commit_discussions(grant.project(), sha, page)
}

/// # Errors
/// `NotFound` where the commit has no such discussion.
pub fn read(tx: &mut Tx<'_>, project: ProjectId, sha: Oid, id: &str) -> Result<CommitDiscussion> {
    let notes = tx.notes_of_commit_discussion(project, sha, id)?;
    match notes.is_empty() {
        true => Err(Error::not_found("Discussion")),
        false => Ok(CommitDiscussion { id: id.to_owned(), notes }),
    }
}

/// Begins a thread about a commit, or about a place in its diff.
pub fn begin(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    sha: Oid,
    words: NewComment,
    spot: Option<DiffPosition>,
) -> Result<CommitDiscussion> {
    let (position, at) = spot.map(|spot| (spot.position, spot.line)).unzip();
    let note_type =
        if position.is_some() { CommitNoteType::Diff } else { CommitNoteType::Discussion };
    let thread = Thread { id: note::fresh_discussion(), note_type: Some(note_type), position };
    let note = say(tx, grant, sha, words, &thread, at.flatten())?;
    Ok(CommitDiscussion { id: note.discussion.clone(), notes: vec![note] })
}

/// Answers in a thread.
///
/// # Errors
/// `BadRequest` where there is only a plain comment.
pub fn reply(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    sha: Oid,
    id: &str,
    words: NewComment,
) -> Result<CommitNote> {
    let found = read(tx, grant.project(), sha, id)?;
    let first = found.notes.first().filter(|note| note.note_type.is_some());
    let Some(first) = first else {
        return Err(Error::bad_request().because("Discussion can not be replied to."));
    };
    let thread = Thread {
        id: found.id.clone(),
        note_type: first.note_type,
        position: first.position.clone(),
    };
    let at = first.line_at();
    say(tx, grant, sha, words, &thread, at)
}

fn say(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    sha: Oid,
    words: NewComment,
    thread: &Thread,
    at: Option<LineAt>,
) -> Result<CommitNote> {
    note::ensure_sayable(&words.body)?;
    let dated = words.created_at.filter(|_| grant.who().is(AccessLevel::Owner));
    let new = NewNote { sha, note: words.body, at };
    note::say(tx, grant, &new, thread, dated)
}

/// Says something else instead.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    sha: Oid,
    discussion: &str,
    id: CommitNoteId,
    body: &str,
) -> Result<CommitNote> {
    let note = changeable(tx, grant, sha, discussion, id)?;
    note::ensure_sayable(body)?;
    let kept = tx.save_commit_note(note.id, body)?;
    tx.emit(Event::CommitCommentChanged {
        project: kept.project_id,
        user: grant.user()?,
        sha: kept.sha.clone(),
        note: kept.id,
    })?;
    Ok(kept)
}

/// Takes a note back, where it did not change since a moment. With its last note a discussion is gone.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    sha: Oid,
    discussion: &str,
    id: CommitNoteId,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let note = changeable(tx, grant, sha, discussion, id)?;
    note.updated_at.ensure_unchanged_since(unless_newer)?;
    tx.delete_commit_note(note.id)?;
    tx.emit(Event::CommitCommentRemoved {
        project: note.project_id,
        user: grant.user()?,
        sha: note.sha,
        note: note.id,
    })
}

/// A note that the caller may change.
fn changeable(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    sha: Oid,
    discussion: &str,
    id: CommitNoteId,
) -> Result<CommitNote> {
    let found = read(tx, grant.project(), sha, discussion)?;
    let note = found.note(id)?;
    let own = note.author_id == grant.user()?;
    match own || grant.who().is(AccessLevel::Maintainer) {
        true => Ok(note.clone()),
        false => Err(Error::forbidden()),
    }
}

pub trait CommitDiscussionStore {
    fn commit_discussions(
        &mut self,
        project: ProjectId,
        sha: Oid,
        page: PageRequest,
    ) -> Result<Page<CommitDiscussion>>;
    fn notes_of_commit_discussion(
        &mut self,
        project: ProjectId,
        sha: Oid,
        id: &str,
    ) -> Result<Vec<CommitNote>>;
    fn save_commit_note(&mut self, id: CommitNoteId, body: &str) -> Result<CommitNote>;
    fn delete_commit_note(&mut self, id: CommitNoteId) -> Result<()>;
}

impl CommitDiscussionStore for Tx<'_> {
    fn commit_discussions(
        &mut self,
        project: ProjectId,
        sha: Oid,
        page: PageRequest,
    ) -> Result<Page<CommitDiscussion>> {
        let on_commit =
            commit_notes::project_id.eq(project).and(commit_notes::sha.eq(sha.to_string()));
        let begun = commit_notes::table
            .filter(on_commit.clone())
            .group_by(commit_notes::discussion)
            .order(diesel::dsl::min(commit_notes::id))
            .limit(page.per_page)
            .offset(page.offset())
            .select(commit_notes::discussion);
        let ids: Vec<String> = each_backend!(self, |conn| begun.load(conn).map_err(error("Note")))?;
        let rows: Vec<CommitNote> = each_backend!(self, |conn| commit_notes::table
            .filter(on_commit.clone().and(commit_notes::discussion.one_of(&ids)))
            .order(commit_notes::id)
            .select(CommitNote::as_select())
            .load(conn)
            .map_err(error("Note")))?;
        let mut notes: HashMap<String, Vec<CommitNote>> = HashMap::new();
        for row in rows {
            notes.entry(row.discussion.clone()).or_default().push(row);
        }
        let thread = |id: String| {
            let notes = notes.remove(&id).unwrap_or_default();
            CommitDiscussion { id, notes }
        };
        let items = ids.into_iter().map(thread).collect();
        let counted = CountOf(
            commit_notes::table
                .filter(on_commit)
                .group_by(commit_notes::discussion)
                .select(commit_notes::discussion)
                .limit(COUNT_LIMIT + 1),
        );
        let total = each_backend!(self, |conn| counted.get_result(conn).map_err(error("Note")))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn notes_of_commit_discussion(
        &mut self,
        project: ProjectId,
        sha: Oid,
        id: &str,
    ) -> Result<Vec<CommitNote>> {
        each_backend!(self, |conn| commit_notes::table
            .filter(commit_notes::project_id.eq(project).and(commit_notes::sha.eq(sha.to_string())))
            .filter(commit_notes::discussion.eq(id))
            .order(commit_notes::id)
            .select(CommitNote::as_select())
            .load(conn)
            .map_err(error("Note")))
    }

    fn save_commit_note(&mut self, id: CommitNoteId, body: &str) -> Result<CommitNote> {
        let changed = (commit_notes::note.eq(body), commit_notes::updated_at.eq(self.now));
        each_backend!(self, |conn| diesel::update(commit_notes::table.find(id))
            .set(changed)
            .returning(CommitNote::as_returning())
            .get_result(conn)
            .map_err(error("Note")))
    }

    fn delete_commit_note(&mut self, id: CommitNoteId) -> Result<()> {
        let row = diesel::delete(commit_notes::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Note")))?;
        Ok(())
    }
}
