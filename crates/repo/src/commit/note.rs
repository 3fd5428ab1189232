//! Comments on commits, and on single lines of them.

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::commit_notes};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result, Ts,
    ids::{CommitNoteId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
    values::length_fault,
};

use crate::{
    Event,
    git::{FileDiff, Oid},
    policy::CommentOnCommit,
};

kernel::text_enum! {
    /// The side of a diff that a line is on.
    pub enum LineType { New = "new", Old = "old" }
}

kernel::text_enum! {
    /// The type of a threaded commit note: on the whole commit, or on a line of its diff. Plain comments are neither.
    pub enum CommitNoteType { Discussion = "DiscussionNote", Diff = "DiffNote" }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = commit_notes, check_for_backend(db::AnyBackend))]
pub struct CommitNote {
    pub id: CommitNoteId,
    pub project_id: ProjectId,
    pub sha: String,
    pub author_id: UserId,
    pub note: String,
    pub path: Option<String>,
    pub line: Option<i64>,
    pub line_type: Option<LineType>,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub discussion: String,
    pub note_type: Option<CommitNoteType>,
    /// A place in the diff, as JSON.
    pub position: Option<String>,
}

impl CommitNote {
    /// The line that it is about.
    pub fn line_at(&self) -> Option<LineAt> {
        let (path, line, line_type) = (self.path.clone()?, self.line?, self.line_type?);
        Some(LineAt { path, line, line_type })
    }
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineAt {
    pub path: String,
    pub line: i64,
    pub line_type: LineType,
}

impl LineAt {
    /// Whether the diff adds or removes this line.
    pub fn is_in(&self, diff: &[FileDiff]) -> bool {
        let of_path = |file: &&FileDiff| match self.line_type {
            LineType::New => file.new_path.to_text() == self.path,
            LineType::Old => {
                file.old_path.to_text() == self.path || file.new_path.to_text() == self.path
            }
        };
        diff.iter().filter(of_path).any(|file| self.is_changed_by(&file.text))
    }

    fn is_changed_by(&self, hunks: &[u8]) -> bool {
        let (mut old, mut new) = (0_i64, 0_i64);
        for line in hunks.split(|byte| *byte == b'\n') {
            match line.first() {
                Some(b'@') => (old, new) = hunk_start(line).unwrap_or((0, 0)),
                Some(b'-') => {
                    if self.line_type == LineType::Old && old == self.line {
                        return true;
                    }
                    old += 1;
                }
                Some(b'+') => {
                    if self.line_type == LineType::New && new == self.line {
                        return true;
                    }
                    new += 1;
                }
                Some(b' ') => (old, new) = (old + 1, new + 1),
                _ => {}
            }
        }
        false
    }
}

/// Reads `@@ -3,7 +3,9 @@`.
fn hunk_start(line: &[u8]) -> Option<(i64, i64)> {
    let line = std::str::from_utf8(line.get(..line.len().min(80))?).unwrap_or_default();
    let mut sides = line.split(' ').skip(1).map(|side| {
        side.trim_start_matches(['-', '+']).split(',').next().and_then(|number| number.parse().ok())
    });
    Some((sides.next()??, sides.next()??))
}

/// The fields of a new commit note.
#[derive(Clone, Debug)]
pub struct NewNote {
    pub sha: Oid,
    pub note: String,
    pub at: Option<LineAt>,
}

/// The thread that a commit note belongs to.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) note_type: Option<CommitNoteType>,
    pub(super) position: Option<String>,
}

/// The name of a new discussion: 40 hexadecimal digits that nobody can guess.
pub(super) fn fresh_discussion() -> String {
    hex::encode(rand::random::<[u8; 20]>())
}

/// Characters of a comment.
const LONGEST: usize = 1_000_000;

/// What is blank or endless is not said.
pub(super) fn ensure_sayable(text: &str) -> Result<()> {
    if let Some(fault) = length_fault(text, LONGEST) {
        return Err(Error::bad_request().because(format!("Note {{:note=>[{fault:?}]}}")));
    }
    match text.trim().is_empty() {
        true => Err(Error::bad_request().because("Note {:note=>[\"can't be blank\"]}")),
        false => Ok(()),
    }
}

/// Adds a comment to a commit that the caller has looked up.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    new: &NewNote,
) -> Result<CommitNote> {
    ensure_sayable(&new.note)?;
    let alone = Thread { id: fresh_discussion(), note_type: None, position: None };
    say(tx, grant, new, &alone, None)
}

/// Says something, now or at a moment that was checked.
pub(super) fn say(
    tx: &mut Tx<'_>,
    grant: &Grant<CommentOnCommit>,
    new: &NewNote,
    thread: &Thread,
    at: Option<Ts>,
) -> Result<CommitNote> {
    let note = insert(tx, grant.project(), grant.user()?, new, thread, at)?;
    tx.emit(Event::CommitCommented {
        project: note.project_id,
        user: note.author_id,
        sha: note.sha.clone(),
        note: note.id,
    })?;
    Ok(note)
}

pub trait CommitNoteStore {
    /// A page of the comments on a commit, oldest first.
    fn commit_notes(
        &mut self,
        project: ProjectId,
        sha: Oid,
        page: PageRequest,
    ) -> Result<Page<CommitNote>>;
    /// These comments, on whatever commit.
    fn commit_notes_by_id(&mut self, ids: &[CommitNoteId]) -> Result<Vec<CommitNote>>;
}

impl CommitNoteStore for Tx<'_> {
    fn commit_notes(
        &mut self,
        project: ProjectId,
        sha: Oid,
        page: PageRequest,
    ) -> Result<Page<CommitNote>> {
        let on_commit =
            commit_notes::project_id.eq(project).and(commit_notes::sha.eq(sha.to_string()));
        let rows = commit_notes::table
            .filter(on_commit.clone())
            .order(commit_notes::id)
            .limit(page.per_page)
            .offset(page.offset());
        let items = each_backend!(self, |conn| rows
            .select(CommitNote::as_select())
            .load(conn)
            .map_err(error("Note")))?;
        let counted = CountOf(
            commit_notes::table.filter(on_commit).select(commit_notes::id).limit(COUNT_LIMIT + 1),
        );
        let total = each_backend!(self, |conn| counted.get_result(conn).map_err(error("Note")))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn commit_notes_by_id(&mut self, ids: &[CommitNoteId]) -> Result<Vec<CommitNote>> {
        each_backend!(self, |conn| commit_notes::table
            .filter(commit_notes::id.one_of(ids))
            .select(CommitNote::as_select())
            .load(conn)
            .map_err(error("Note")))
    }
}

fn insert(
    tx: &mut Tx<'_>,
    project: ProjectId,
    author: UserId,
    new: &NewNote,
    thread: &Thread,
    moment: Option<Ts>,
) -> Result<CommitNote> {
    let (at, moment) = (new.at.as_ref(), moment.unwrap_or(tx.now));
    let row = (
        commit_notes::project_id.eq(project),
        commit_notes::sha.eq(new.sha.to_string()),
        commit_notes::author_id.eq(author),
        commit_notes::note.eq(&new.note),
        commit_notes::path.eq(at.map(|at| &at.path)),
        commit_notes::line.eq(at.map(|at| at.line)),
        commit_notes::line_type.eq(at.map(|at| at.line_type)),
        commit_notes::created_at.eq(moment),
        commit_notes::updated_at.eq(moment),
        commit_notes::discussion.eq(&thread.id),
        commit_notes::note_type.eq(thread.note_type),
        commit_notes::position.eq(&thread.position),
    );
    let insert = diesel::insert_into(commit_notes::table).values(row);
    each_backend!(tx, |conn| insert
        .returning(CommitNote::as_returning())
        .get_result(conn)
        .map_err(error("Note")))
}

#[cfg(test)]
mod tests {
    use super::{LineAt, LineType};

    #[test]
    fn only_changed_lines_can_be_spoken_about() {
        let hunks =
            b"@@ -1,3 +1,4 @@\n one\n-two\n+2\n+two and a half\n three\n@@ -9 +10 @@ x\n-a\n+b\n";
        let is_there =
            |line, line_type| LineAt { path: String::new(), line, line_type }.is_changed_by(hunks);
        let all = |line_type| (0..15).filter(|line| is_there(*line, line_type)).collect::<Vec<_>>();
        assert_eq!(all(LineType::New), [2, 3, 10]);
        assert_eq!(all(LineType::Old), [2, 9]);
    }
}
