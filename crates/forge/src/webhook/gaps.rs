//! Payload fields that only git knows, read before sending and outside of transactions.

use bstr::BString;
use kernel::{Error, Result, error::Kind, ids::ProjectId};
use org::user::store::UserStore as _;
use repo::{
    commit::{Answers, read::deadline},
    event::{MovedRef, WikiAction},
    git::{
        ChangeKind, CommitInfo, Deadline, FileDiff, LogQuery, Oid, Reader, RefName, TreePath, Wiki,
    },
    wiki::{PageFile, PageName, find},
};
use review::note::position::{FileHunks, Position};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{missing_data::no_data, payload};
use crate::Forge;

/// Commits of a push that are told one by one.
const MOST_COMMITS: i64 = 20;

/// Payload fields to read from git, and their positions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Gaps {
    Push {
        project: ProjectId,
        name: String,
        before: Option<String>,
        after: Option<String>,
        count: i64,
    },
    /// The newest commit of a branch, as if it had just been pushed.
    Head { project: ProjectId, branch: String },
    /// The commit that a comment is about, as [`Self::Commit`], and the code of the line.
    Note {
        commit: Option<Box<Gaps>>,
        project: ProjectId,
        position: String,
        /// Where the record of the comment is.
        #[serde(default = "note_place")]
        place: String,
    },
    /// A whole commit, at a place of the payload.
    Commit { project: ProjectId, sha: String, place: String },
    /// What a job says of its commit.
    Job { project: ProjectId, sha: String },
    /// The title of a deployed commit.
    Deployment { project: ProjectId, sha: String },
    /// The text of a page; of one that is gone, its last.
    Wiki { project: ProjectId, path: String, version: String, is_gone: bool },
    /// The first page of a wiki, as if it had just been written.
    FirstPage { project: ProjectId },
}

/// Where events of comments have the record of the comment; rows of earlier versions do not say so.
pub(super) const NOTE_PLACE: &str = "/object_attributes";

fn note_place() -> String {
    NOTE_PLACE.to_owned()
}

impl Gaps {
    pub(super) fn push(project: ProjectId, moved: &MovedRef) -> Self {
        Self::Push {
            project,
            name: moved.name.clone(),
            before: moved.before.clone(),
            after: moved.after.clone(),
            count: moved.commit_count,
        }
    }

    /// The message of a tag and the commit that it stands for, without commits.
    pub(super) fn tag(project: ProjectId, moved: &MovedRef) -> Self {
        let (name, before, after) = (moved.name.clone(), moved.before.clone(), moved.after.clone());
        Self::Push { project, name, before, after, count: 0 }
    }

    pub(super) fn commit(project: ProjectId, sha: &str, place: &str) -> Self {
        Self::Commit { project, sha: sha.to_owned(), place: place.to_owned() }
    }

    /// Of a comment on a line, that line; of any, the commit. `place` is where the payload has the comment.
    pub(super) fn note(
        commit: Option<Self>,
        project: ProjectId,
        position: Option<&str>,
        place: &str,
    ) -> Option<Self> {
        let Some(position) = position else { return commit };
        let (commit, position) = (commit.map(Box::new), position.to_owned());
        Some(Self::Note { commit, project, position, place: place.to_owned() })
    }

    pub(super) fn job(project: ProjectId, sha: &str) -> Self {
        Self::Job { project, sha: sha.to_owned() }
    }

    pub(super) fn deployment(project: ProjectId, sha: &str) -> Self {
        Self::Deployment { project, sha: sha.to_owned() }
    }

    pub(super) fn wiki(project: ProjectId, path: &str, version: &str, is_gone: bool) -> Self {
        let (path, version) = (path.to_owned(), version.to_owned());
        Self::Wiki { project, path, version, is_gone }
    }

    pub(super) fn to_text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(Error::internal)
    }

    pub(super) fn from_text(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(Error::internal)
    }
}

/// The payload with what git says. What is gone by now stays as it is.
///
/// # Errors
/// When git cannot be read at the moment.
pub(super) async fn fill(forge: &Forge, gaps: Gaps, payload: Value) -> Result<Value> {
    match gaps {
        Gaps::Note { commit, project, position, place } => {
            let payload = match commit {
                Some(commit) => fill_one(forge, *commit, payload).await?,
                None => payload,
            };
            note(forge, (project, position), &place, payload).await
        }
        Gaps::Job { .. } => {
            let payload = fill_one(forge, gaps, payload).await?;
            with_author(forge, payload).await
        }
        gaps => fill_one(forge, gaps, payload).await,
    }
}

/// With the page of whoever wrote a job's commit, where the address is that of an account.
async fn with_author(forge: &Forge, mut payload: Value) -> Result<Value> {
    let Some(address) = payload["commit"]["author_email"].as_str().map(str::to_owned) else {
        return Ok(payload);
    };
    let found = forge.db.read(move |tx| tx.find_user_with_email(&address)).await?;
    if let Some(author) = found {
        payload["commit"]["author_url"] = json!(forge.urls.at(&author.username));
    }
    Ok(payload)
}

/// With the code of the line that a comment is about, where its diff is still there.
async fn note(
    forge: &Forge,
    (project, position): (ProjectId, String),
    place: &str,
    mut payload: Value,
) -> Result<Value> {
    let code = forge.git_read(project, move |reader| Ok(line_code(reader, &position)));
    match code.await {
        Ok(code) => {
            if let Some(slot) = payload.pointer_mut(&format!("{place}/line_code")) {
                *slot = json!(code);
            }
        }
        Err(gone) if gone.kind == Kind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(payload)
}

fn line_code(reader: &Reader, position: &str) -> Option<String> {
    let position: Position = serde_json::from_str(position).ok()?;
    let (base, head) = (position.base_sha.parse().ok()?, position.head_sha.parse().ok()?);
    let files = reader.diff(Some(base), head, reader.diff_limits(), deadline()).ok()?;
    let paths: Vec<_> =
        files.iter().map(|file| (file.old_path.to_text(), file.new_path.to_text())).collect();
    let hunks = files.iter().zip(&paths).map(|(file, (old_path, new_path))| FileHunks {
        old_path,
        new_path,
        hunks: &file.text,
    });
    position.line_code(&hunks.collect::<Vec<_>>()).ok().flatten()
}

async fn fill_one(forge: &Forge, gaps: Gaps, payload: Value) -> Result<Value> {
    let unfilled = payload.clone();
    // One for all that is read, however many commits there are.
    let end = deadline();
    let filled = match gaps {
        Gaps::Push { project, name, before, after, count } => {
            let with = (forge.answers.clone(), end);
            let read = move |reader: &Reader| {
                let range = (before.as_deref(), after.as_deref(), count);
                push(reader, (&with.0, with.1), &name, range, payload)
            };
            forge.git_read(project, read).await
        }
        Gaps::Head { project, branch } => {
            let with = (forge.answers.clone(), end);
            let read = move |reader: &Reader| head(reader, (&with.0, with.1), &branch, payload);
            forge.git_read(project, read).await
        }
        Gaps::Commit { project, sha, place } => {
            let read = move |reader: &Reader| Ok(commit(reader, &sha, &place, payload));
            forge.git_read(project, read).await
        }
        Gaps::Job { project, sha } => {
            forge.git_read(project, move |reader| Ok(job(reader, &sha, payload))).await
        }
        Gaps::Deployment { project, sha } => {
            let read = move |reader: &Reader| Ok(deployment(reader, &sha, payload));
            forge.git_read(project, read).await
        }
        Gaps::Wiki { project, path, version, is_gone } => {
            let read = move |reader: &Reader| Ok(page(reader, (&path, &version), is_gone, payload));
            let read = forge.wiki_read(Wiki::Project(project), read).await;
            read.map(|filled| filled.unwrap_or(Value::Null))
        }
        Gaps::FirstPage { project } => {
            let read = move |reader: &Reader| first_page(reader, end, payload);
            let read = forge.wiki_read(Wiki::Project(project), read).await;
            read.and_then(|page| page.flatten().ok_or_else(|| no_data("wiki pages")))
        }
        Gaps::Note { .. } => Ok(payload),
    };
    match filled {
        Ok(Value::Null) => Ok(unfilled),
        Err(gone) if gone.kind == Kind::NotFound => Ok(unfilled),
        filled => filled,
    }
}

fn find_commit(reader: &Reader, sha: &str) -> Option<CommitInfo> {
    reader.commit(sha.parse().ok()?).ok()
}

fn push(
    reader: &Reader,
    (answers, end): (&Answers, Deadline),
    name: &str,
    (before, after, count): (Option<&str>, Option<&str>, i64),
    mut payload: Value,
) -> Result<Value> {
    let Some(after) = after.and_then(|after| after.parse::<Oid>().ok()) else { return Ok(payload) };
    if name.starts_with("refs/tags/") {
        let tag = RefName::full(name).ok().and_then(|name| reader.tag(&name).ok());
        if let Some(tag) = tag {
            payload["message"] = json!(tag.message);
            payload["checkout_sha"] = json!(tag.commit.map(|id| id.to_string()));
        }
    }
    let Ok(take) = usize::try_from(count.min(MOST_COMMITS)) else { return Ok(payload) };
    let exclude: Vec<Oid> = before.and_then(|before| before.parse().ok()).into_iter().collect();
    // A tag of a file has no commits.
    let Some(tip) = reader.peeled(after)? else { return Ok(payload) };
    let query = LogQuery { exclude, take, ..LogQuery::of(tip) };
    let url = payload["project"]["web_url"].as_str().unwrap_or_default().to_owned();
    let mut commits = Vec::new();
    for info in reader.log(&query, end)?.iter().rev() {
        let diff = answers.commit_diff(reader, info.id, end)?;
        commits.push(with_files(payload::commit(&url, info), &diff));
    }
    payload["commits"] = json!(commits);
    Ok(payload)
}

fn head(
    reader: &Reader,
    with: (&Answers, Deadline),
    branch: &str,
    mut payload: Value,
) -> Result<Value> {
    let tip = reader.reference(&RefName::branch(branch)?)?.target;
    let info = reader.commit(tip)?;
    let before = info.parents.first().map(ToString::to_string);
    payload["after"] = json!(tip.to_string());
    payload["checkout_sha"] = json!(tip.to_string());
    if let Some(before) = &before {
        payload["before"] = json!(before);
    }
    payload["total_commits_count"] = json!(1);
    let after = tip.to_string();
    push(reader, with, "refs/heads/", (before.as_deref(), Some(&after), 1), payload)
}

fn with_files(mut commit: Value, diff: &[FileDiff]) -> Value {
    let text = |path: &BString| path.to_string();
    let (mut added, mut modified, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for file in diff {
        let (old, new) = (file.old_path.as_bstr().to_owned(), file.new_path.as_bstr().to_owned());
        match file.change {
            ChangeKind::Added => added.push(text(&new)),
            ChangeKind::Deleted => removed.push(text(&old)),
            ChangeKind::Modified => modified.push(text(&new)),
            ChangeKind::Renamed => {
                added.push(text(&new));
                removed.push(text(&old));
            }
        }
    }
    commit["added"] = json!(added);
    commit["modified"] = json!(modified);
    commit["removed"] = json!(removed);
    commit
}

fn commit(reader: &Reader, sha: &str, place: &str, mut payload: Value) -> Value {
    let url = payload["project"]["web_url"].as_str().unwrap_or_default().to_owned();
    if let (Some(info), Some(slot)) = (find_commit(reader, sha), payload.pointer_mut(place)) {
        *slot = payload::commit(&url, &info);
    }
    payload
}

fn job(reader: &Reader, sha: &str, mut payload: Value) -> Value {
    if let Some(info) = find_commit(reader, sha) {
        let commit = &mut payload["commit"];
        commit["message"] = json!(info.message);
        commit["author_name"] = json!(info.author.name);
        commit["author_email"] = json!(info.author.email);
        commit["author_url"] = json!(format!("mailto:{}", info.author.email));
    }
    payload
}

fn deployment(reader: &Reader, sha: &str, mut payload: Value) -> Value {
    if let Some(info) = find_commit(reader, sha) {
        payload["commit_title"] = json!(info.title);
    }
    payload
}

fn page(
    reader: &Reader,
    (path, version): (&str, &str),
    is_gone: bool,
    mut payload: Value,
) -> Value {
    let Some(info) = find_commit(reader, version) else { return payload };
    let at = if is_gone { info.parents.first().copied() } else { Some(info.id) };
    let attributes = &mut payload["object_attributes"];
    attributes["message"] = json!(info.message.trim_end());
    let page = at.and_then(|at| find::at_path(reader, at, path).ok()?.read(reader).ok());
    if let Some(page) = page {
        attributes["content"] = json!(page.content);
    }
    payload
}

/// The first page as it was written last; nothing where there is none.
fn first_page(reader: &Reader, end: Deadline, mut payload: Value) -> Result<Option<Value>> {
    let Some(tip) = find::tip(reader)? else { return Ok(None) };
    let first = find::all(reader, tip)?.into_iter().next();
    let Some(PageFile { slug, path, markup, .. }) = first else { return Ok(None) };
    let file = Some(TreePath::lookup(&path)?);
    let query = LogQuery { path: file, take: 1, ..LogQuery::of(tip) };
    let version = reader.log_ids(&query, end)?.first().unwrap_or(&tip).to_string();
    let url = payload["project"]["web_url"].as_str().unwrap_or_default();
    let (name, deed) = (PageName { slug, markup }, (WikiAction::Create, version.as_str()));
    let attributes = payload::wiki::attributes(url, &name, deed);
    payload["object_attributes"] = attributes;
    Ok(Some(page(reader, (&path, &version), false, payload)))
}
