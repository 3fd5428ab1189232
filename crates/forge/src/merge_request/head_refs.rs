//! Refs that keep the commits of merge requests in the projects they lead to.

use db::Tx;
use kernel::{
    Error, Result,
    ids::{MergeRequestId, ProjectId},
};
use repo::{
    git::{
        Oid, RefName, RepoPath,
        refs::{self, RefMove},
        transfer,
    },
    push::InternalMove,
};
use review::merge_request::{
    MergeRequest, MergeRequestCommitStore, MergeRequestStore, VersionStore,
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue};

use super::contents::commit_ids;
use crate::{Forge, keep_around};

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
pub fn enqueue_head(tx: &mut Tx<'_>, merge_request: MergeRequestId) -> Result<()> {
    tx.enqueue(&KeepHead { merge_request })
}

impl KeepHead {
    /// Does nothing for what is gone by now.
    pub async fn run(self, forge: &Forge) -> Result<()> {
        let id = self.merge_request;
        let found = forge.db.read(move |tx| {
            let Some(row) = tx.merge_requests_in_order(&[id.0])?.pop() else { return Ok(None) };
            Ok(Some((row, tx.version_heads(id)?)))
        });
        match found.await? {
            Some((row, heads)) if forge.storage.exists(row.project_id) => {
                keep(forge, &row, &heads).await?;
                let shas = commit_ids(forge, &row).await?;
                forge.db.write(move |tx| tx.save_commits(id, &shas)).await
            }
            _ => Ok(()),
        }
    }
}

async fn keep(forge: &Forge, row: &MergeRequest, heads: &[String]) -> Result<()> {
    let Some(head) = row.head_sha.as_deref().and_then(|sha| sha.parse().ok()) else {
        return Ok(());
    };
    let repository = forge.storage.repository(row.project_id);
    if let Some(source) = row.source_project_id.filter(|source| forge.storage.exists(*source)) {
        let from = forge.storage.repository(source);
        transfer::bring(&forge.git, &from, &repository, head).await?;
    }
    let name = head_ref(row.iid)?;
    let now = refs::read(&repository, [&name]).await?.get(&name).copied();
    if now == Some(head) {
        return Ok(());
    }
    let mut moves = kept_around(forge, row.project_id, &repository, head, now, heads).await?;
    moves.push(RefMove { name: name.clone(), old: now.into(), new: Some(head) });
    match forge.move_own(row.project_id, moves).await? {
        InternalMove::Done => Ok(()),
        InternalMove::Stale(_) => Err(moved_meanwhile(&name)),
    }
}

/// Somebody else has moved a ref; the work is done again.
fn moved_meanwhile(name: &RefName) -> Error {
    Error::conflict().whole(format!("the ref {name} has moved"))
}

/// The name under which the newest commit of a merge request is found.
fn head_ref(iid: i64) -> Result<RefName> {
    Ok(RefName::full(format!("refs/merge-requests/{iid}/head"))?)
}

/// Refs for those heads since the last one that was kept which a forced push left behind.
async fn kept_around(
    forge: &Forge,
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
    let lost = forge.git_read(project, move |reader| {
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
        let name = keep_around::ref_of(id)?;
        if refs::read(repository, [&name]).await?.is_empty() {
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
    pub async fn run(self, forge: &Forge) -> Result<()> {
        if !forge.storage.exists(self.project) {
            return Ok(());
        }
        let repository = forge.storage.repository(self.project);
        let name = head_ref(self.iid)?;
        let Some(now) = refs::read(&repository, [&name]).await?.get(&name).copied() else {
            return Ok(());
        };
        let gone = RefMove { name, old: Some(now).into(), new: None };
        match forge.move_own(self.project, vec![gone]).await? {
            InternalMove::Done | InternalMove::Stale(None) => Ok(()),
            InternalMove::Stale(Some(_)) => Err(moved_meanwhile(&head_ref(self.iid)?)),
        }
    }
}
