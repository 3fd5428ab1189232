//! What merge requests ask of repositories: where their branches are, and that their commits stay.

use db::Tx;
use kernel::{
    Ability, Error, Grant, Result, Standing,
    access::Project,
    ids::{MergeRequestId, ProjectId},
};
use org::{
    access::{IdOrPath, locate_project},
    project::store::ProjectStore,
};
use repo::{
    git::{GitError, Oid, RefName, RepoPath, refs, refs::RefMove, transfer},
    proposal,
};
use review::merge_request::{
    Ends, Heads, Kinship, MergeRequest, MergeRequestCommitStore, MergeRequestStore, VersionStore,
    change::{Looked, MergeRequestChange},
    version::MOST_FILES,
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue};

use super::merge_request_contents::commit_ids;
use crate::app::App;

/// A project that the caller names, where they may do something there.
pub fn elsewhere<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    who: &Standing,
    id: ProjectId,
) -> Result<Grant<A>> {
    let (project, who) = locate_project(tx, who.actor, &IdOrPath::Id(id.0))?;
    Grant::check(&who, project)
}

/// How two projects are to each other.
pub fn kinship(tx: &mut Tx<'_>, one: ProjectId, other: ProjectId) -> Result<Kinship> {
    if one == other {
        return Ok(Kinship::Same);
    }
    let (one, other) = (tx.project(one)?, tx.project(other)?);
    let root = |project: &org::project::Project| project.fork_root_id.unwrap_or(project.id);
    let related = root(&one) == root(&other);
    Ok(if related { Kinship::Related } else { Kinship::Strangers })
}

/// As [`look_at`], before it is known whether there can be a merge request: nothing is brought to strangers.
pub async fn look(app: &App, ends: &Ends, kinship: Kinship) -> Result<Heads> {
    match kinship {
        Kinship::Strangers => Ok(Heads::default()),
        Kinship::Same | Kinship::Related => look_at(app, ends).await,
    }
}

/// What git says of the branches as they are to be after a change.
pub async fn look_before(
    app: &App,
    row: &MergeRequest,
    change: &MergeRequestChange,
) -> Result<Option<Looked>> {
    let Some(mut ends) = row.ends() else { return Ok(None) };
    if let Some(branch) = &change.target_branch {
        ends.target_branch.clone_from(branch);
    }
    let heads = look_at(app, &ends).await?;
    Ok(Some(Looked { at: ends, heads }))
}

/// Looks where the branches of a merge request are, and what the source changes. What the source has is brought to the
/// target, so that nobody has to look elsewhere for it.
pub async fn look_at(app: &App, ends: &Ends) -> Result<Heads> {
    let head = branch_head(app, ends.source, &ends.source_branch).await?;
    let start = branch_head(app, ends.target, &ends.target_branch).await?;
    let (Some(head), Some(start)) = (head, start) else {
        let text = |id: Option<Oid>| id.map(|id| id.to_string());
        return Ok(Heads { head: text(head), start: text(start), base: None, files: 0 });
    };
    let [from, into] = [ends.source, ends.target].map(|id| app.storage.repository(id));
    transfer::bring(&app.git, &from, &into, head).await?;
    let found =
        app.git_read(ends.target, move |reader| proposal::extent(reader, start, head)).await?;
    let files = found.files.and_then(|files| i64::try_from(files).ok()).unwrap_or(MOST_FILES + 1);
    Ok(Heads {
        head: Some(head.to_string()),
        start: Some(start.to_string()),
        base: Some(found.base.to_string()),
        files,
    })
}

/// Where a branch is; nowhere in a project without a repository, or under a name that no branch has.
pub(crate) async fn branch_head(
    app: &App,
    project: ProjectId,
    branch: &str,
) -> Result<Option<Oid>> {
    let Ok(name) = RefName::branch(branch) else { return Ok(None) };
    let read = app.git_read(project, move |reader| {
        Ok(reader.find_reference(&name)?.and_then(|found| found.commit))
    });
    match read.await {
        Err(Error::NotFound("Repository")) => Ok(None),
        found => found,
    }
}

/// Keeps the commits of a merge request in the project it leads to, whatever becomes of its source, and writes down
/// which they are.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeepHead {
    pub merge_request: MergeRequestId,
}

impl Job for KeepHead {
    const KIND: &'static str = "merge_request.keep_head";

    fn unique_key(&self) -> Option<String> {
        Some(self.merge_request.to_string())
    }
}

/// To be said in the transaction in which a merge request got other commits.
pub fn promise_head(tx: &mut Tx<'_>, merge_request: MergeRequestId) -> Result<()> {
    tx.enqueue(&KeepHead { merge_request })
}

impl KeepHead {
    /// Does nothing for what is gone by now.
    pub async fn run(self, app: &App) -> Result<()> {
        let id = self.merge_request;
        let found = app.db.read(move |tx| {
            let Some(row) = tx.merge_requests_in_order(&[id.0])?.pop() else { return Ok(None) };
            Ok(Some((row, tx.version_heads(id)?)))
        });
        match found.await? {
            Some((row, heads)) if app.storage.exists(row.project_id) => {
                keep(app, &row, &heads).await?;
                let shas = commit_ids(app, &row).await?;
                app.db.write(move |tx| tx.keep_commits(id, &shas)).await
            }
            _ => Ok(()),
        }
    }
}

async fn keep(app: &App, row: &MergeRequest, heads: &[String]) -> Result<()> {
    let Some(head) = row.head_sha.as_deref().and_then(|sha| sha.parse().ok()) else {
        return Ok(());
    };
    let repository = app.storage.repository(row.project_id);
    if let Some(source) = row.source_project_id.filter(|source| app.storage.exists(*source)) {
        let from = app.storage.repository(source);
        transfer::bring(&app.git, &from, &repository, head).await?;
    }
    let name = head_ref(row.iid)?;
    let now = refs::read(&app.git, &repository, [&name]).await?.get(&name).copied();
    if now == Some(head) {
        return Ok(());
    }
    let mut moves = kept_around(app, row.project_id, &repository, head, now, heads).await?;
    moves.push(RefMove { name, old: now.into(), new: Some(head) });
    Ok(refs::move_now(&app.git, &repository, &moves).await?)
}

/// The name under which the newest commit of a merge request is found.
fn head_ref(iid: i64) -> Result<RefName> {
    Ok(RefName::full(format!("refs/merge-requests/{iid}/head"))?)
}

/// Refs for those heads since the last one that was kept which a forced push left behind.
async fn kept_around(
    app: &App,
    project: ProjectId,
    repository: &RepoPath,
    head: Oid,
    last: Option<Oid>,
    heads: &[String],
) -> Result<Vec<RefMove>> {
    let Some(last) = last else { return Ok(Vec::new()) };
    let mut since: Vec<Oid> = Vec::new();
    for id in heads.iter().filter_map(|sha| sha.parse::<Oid>().ok()) {
        if id != head && !since.contains(&id) {
            since.push(id);
        }
        if id == last {
            break;
        }
    }
    let lost = app.git_read(project, move |reader| {
        let mut lost = Vec::new();
        for id in since {
            if reader.has(id) && reader.merge_base(&[id, head])? != Some(id) {
                lost.push(id);
            }
        }
        Ok(lost)
    });
    let mut moves = Vec::new();
    for id in lost.await? {
        let name = RefName::full(format!("refs/keep-around/{id}"))?;
        if refs::read(&app.git, repository, [&name]).await?.is_empty() {
            moves.push(RefMove { name, old: None.into(), new: Some(id) });
        }
    }
    Ok(moves)
}

/// Lets go of the commits of a merge request that was removed.
#[derive(Debug, Serialize, Deserialize)]
pub struct DropHead {
    pub project: ProjectId,
    pub iid: i64,
}

impl Job for DropHead {
    const KIND: &'static str = "merge_request.drop_head";

    fn unique_key(&self) -> Option<String> {
        Some(format!("{}!{}", self.project, self.iid))
    }
}

impl DropHead {
    pub async fn run(self, app: &App) -> Result<()> {
        if !app.storage.exists(self.project) {
            return Ok(());
        }
        let repository = app.storage.repository(self.project);
        let name = head_ref(self.iid)?;
        let Some(now) = refs::read(&app.git, &repository, [&name]).await?.get(&name).copied()
        else {
            return Ok(());
        };
        let gone = RefMove { name, old: Some(now).into(), new: None };
        match refs::move_now(&app.git, &repository, &[gone]).await {
            Err(GitError::Stale { actual: None }) => Ok(()),
            moved => Ok(moved?),
        }
    }
}
