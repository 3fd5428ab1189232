//! Positions of diff notes: validated against the diff, and moved along after a push.

use std::borrow::Cow;

use kernel::{
    Error, Result,
    ids::{MergeRequestId, ProjectId},
};
use org::project::settings::SettingsStore as _;
use repo::{
    commit::read::deadline,
    git::{FileDiff, GitError, Oid, Reader},
};
use review::{
    merge_request::{MergeRequest, MergeRequestStore as _},
    note::{
        line_tracking::{self, LineOutcome, LineThread},
        position::{FileHunks, Position, Refs, no_line},
    },
};
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::Forge;

/// # Errors
/// `BadRequest` for a place that the diff between its commits does not have.
pub async fn ensure_shown(forge: &Forge, project: ProjectId, position: &Position) -> Result<()> {
    position.ensure_complete()?;
    let commit = |text: &str| text.parse::<Oid>().map_err(|_no_commit| no_line());
    let (base, head) = (commit(&position.base_sha)?, commit(&position.head_sha)?);
    let position = position.clone();
    let read = forge.git_read(project, move |reader| {
        let files = match reader.diff(Some(base), head, reader.diff_limits(), deadline()) {
            Err(GitError::NotFound) => return Err(no_line()),
            compared => compared?,
        };
        shown(&files, &position)
    });
    match read.await {
        Err(gone) if gone.is_gone() => Err(no_line()),
        read => read,
    }
}

/// The parent of a commit that has none, in the eyes of diffs.
const NOTHING: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const ELSEWHERE: &str = r#"Note {:commit_id=>["does not match the diff refs"]}"#;

/// As [`ensure_shown`], for a place in the diff of one commit.
pub async fn ensure_in_commit(
    forge: &Forge,
    project: ProjectId,
    commit: Oid,
    position: &Position,
) -> Result<()> {
    position.ensure_complete()?;
    let position = position.clone();
    let read = forge.git_read(project, move |reader| {
        let parent = reader.commit(commit)?.parents.first().map(Oid::to_string);
        let parent = parent.as_deref().unwrap_or(NOTHING);
        let between = (position.base_sha.as_str(), position.start_sha.as_str());
        if between != (parent, parent) || position.head_sha != commit.to_string() {
            return Err(Error::bad_request().because(ELSEWHERE));
        }
        shown(&reader.commit_diff(commit, reader.diff_limits(), deadline())?, &position)
    });
    read.await
}

fn shown(files: &[FileDiff], position: &Position) -> Result<()> {
    if !position.is_storable() {
        return Err(no_line());
    }
    let paths = paths(files);
    position.line_code(&hunks(files, &paths)).map(drop)
}

type Paths<'d> = (Cow<'d, str>, Cow<'d, str>);

fn paths(files: &[FileDiff]) -> Vec<Paths<'_>> {
    files.iter().map(|file| (file.old_path.to_text(), file.new_path.to_text())).collect()
}

fn hunks<'d>(files: &'d [FileDiff], paths: &'d [Paths<'d>]) -> Vec<FileHunks<'d>> {
    let of = |(file, (old_path, new_path)): (&'d FileDiff, &'d Paths<'d>)| FileHunks {
        old_path,
        new_path,
        hunks: &file.text,
    };
    files.iter().zip(paths).map(of).collect()
}

/// Lets the threads about lines of a merge request follow them into its newest version.
#[derive(Debug, Serialize, Deserialize)]
pub struct FollowLines {
    pub merge_request: MergeRequestId,
}

impl Job for FollowLines {
    const KIND: &'static str = "merge_request.follow_lines";

    fn unique_key(&self) -> Option<String> {
        Some(self.merge_request.to_string())
    }
}

/// Does nothing for what is gone by now.
pub async fn follow_lines(forge: Forge, job: FollowLines) -> Result<()> {
    let id = job.merge_request;
    let known = forge.db.read(move |tx| {
        let Some(row) = tx.merge_requests_in_order(&[id.0])?.pop() else { return Ok(None) };
        let Some(refs) = refs(&row) else { return Ok(None) };
        let threads = line_tracking::behind(tx, &row, &refs)?;
        Ok((!threads.is_empty()).then_some((row, refs, threads)))
    });
    let Some((row, refs, threads)) = known.await? else { return Ok(()) };
    let read = forge.git_read(row.project_id, move |reader| trace(reader, &refs, threads));
    let traced = match read.await {
        Err(gone) if gone.is_gone() => return Ok(()),
        traced => traced?,
    };
    let kept = forge.db.write(move |tx| {
        let resolve = tx.project_settings(row.project_id)?.resolve_outdated_diff_discussions;
        line_tracking::keep(tx, &row, &traced, resolve)
    });
    kept.await
}

fn refs(row: &MergeRequest) -> Option<Refs> {
    let (base, start, head) =
        (row.base_sha.clone()?, row.start_sha.clone()?, row.head_sha.clone()?);
    Some(Refs { base, start, head })
}

/// Threads of one older version share what git says of the way from there. Those of which it says nothing, since commits
/// are not there, stay as they are.
fn trace(
    reader: &Reader,
    refs: &Refs,
    mut threads: Vec<LineThread>,
) -> Result<Vec<(LineThread, LineOutcome)>> {
    let Some(diff) = compared(reader, &refs.base, &refs.head)? else { return Ok(Vec::new()) };
    let (now_paths, mut all) = (paths(&diff), Vec::new());
    let now = hunks(&diff, &now_paths);
    threads.sort_by(|one, other| one.position.head_sha.cmp(&other.position.head_sha));
    for of_version in
        threads.chunk_by(|one, other| one.position.head_sha == other.position.head_sha)
    {
        let Some(first) = of_version.first() else { continue };
        let from = &first.position.head_sha;
        let Some(between) = compared(reader, from, &refs.head)? else { continue };
        let then_paths = paths(&between);
        let then = hunks(&between, &then_paths);
        for thread in of_version {
            let path = thread.position.new_path.as_deref();
            let moved = then.iter().copied().find(|file| path == Some(file.old_path));
            let traced = match thread.position.traced(refs, moved, &now) {
                Some(position) => LineOutcome::Moved(Box::new(position)),
                None => LineOutcome::Outdated,
            };
            all.push((thread.clone(), traced));
        }
    }
    Ok(all)
}

/// `None` where a commit is not in the repository: archives of others may name such ones.
fn compared(reader: &Reader, from: &str, to: &str) -> Result<Option<Vec<FileDiff>>> {
    let (Ok(from), Ok(to)) = (from.parse::<Oid>(), to.parse::<Oid>()) else { return Ok(None) };
    match reader.diff(Some(from), to, reader.diff_limits(), deadline()) {
        Err(GitError::NotFound) => Ok(None),
        found => Ok(Some(found?)),
    }
}
