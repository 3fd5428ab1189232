//! Issues that commits say they close, which were pushed to the default branch.

use db::Tx;
use kernel::{
    Result,
    head::HeadMove,
    ids::{ProjectId, UserId},
};
use org::project::settings::SettingsStore as _;
use repo::{git::Oid, push::Push};
use review::{
    issue::actions::{CloseReason, close_for},
    merge_request::{
        closing::closes,
        merge::{closes::named_issues, run},
    },
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::{
    after_merge::may_close,
    mergeability::{NamedProjects, commits_between},
};
use crate::{Forge, ports::directory::Directory};

/// Closes what the commits between two others name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CloseIssuesOfCommits {
    project: ProjectId,
    before: String,
    after: String,
    user: UserId,
}

impl Job for CloseIssuesOfCommits {
    const KIND: &'static str = "issue.close_named";

    fn unique_key(&self) -> Option<String> {
        Some(format!("{}:{}:{}", self.project, self.before, self.after))
    }
}

/// What a move of the default branch closes, where it may close anything.
fn closing(
    project: ProjectId,
    user: Option<UserId>,
    head: &HeadMove,
) -> Option<CloseIssuesOfCommits> {
    if !head.names_issues {
        return None;
    }
    let (before, after) = (head.from.clone()?, head.to.clone()?);
    Some(CloseIssuesOfCommits { project, before, after, user: user? })
}

/// In the transaction of the push: whatever happens next, they will be closed.
pub fn enqueue_closing(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: Option<UserId>,
    head: Option<&HeadMove>,
) -> Result<()> {
    match head.and_then(|head| closing(project, user, head)) {
        Some(promise) => tx.enqueue(&promise),
        None => Ok(()),
    }
}

/// Before the pusher is answered.
pub(super) async fn close_promised(forge: &Forge, push: &Push) -> Result<()> {
    let head = push.head.as_ref();
    let promise = head.and_then(|head| closing(push.project.id, push.who.actor.id, head));
    let Some(key) = promise.and_then(|promise| promise.unique_key()) else { return Ok(()) };
    forge.worker().run_now_and_wait(vec![format!("{}:{key}", CloseIssuesOfCommits::KIND)]).await
}

pub async fn close_named(forge: Forge, job: CloseIssuesOfCommits) -> Result<()> {
    let CloseIssuesOfCommits { project, before, after, user } = job;
    if !forge.storage.exists(project) {
        return Ok(());
    }
    let (before, after): (Oid, Oid) = (before.parse()?, after.parse()?);
    let read = forge.git_read(project, move |reader| Ok(commits_between(reader, before, after)?));
    let mut commits = read.await?;
    // The one that named an issue first closes it.
    commits.reverse();
    let (home, directory) = (forge.urls.base().to_owned(), Directory::new(&forge.urls));
    if commits.iter().all(|commit| closes(&commit.message, &home).is_empty()) {
        return Ok(());
    }
    let closed = forge.db.write(move |tx| {
        if !tx.project_settings(project)?.autoclose_referenced_issues {
            return Ok(());
        }
        let texts: Vec<&str> = commits.iter().map(|commit| commit.message.as_str()).collect();
        let mut issues = named_issues(tx, &NamedProjects, project, &texts, &home)?;
        // In one order, so that of two pushes that name the same neither waits for the other half-way.
        issues.sort_unstable_by_key(|(issue, _)| issue.id);
        let merged = run::merged_as(tx, project, &after.to_string())?;
        for (issue, place) in issues {
            let Some(commit) = commits.get(place) else { continue };
            let sha = commit.id.to_string();
            let cause = match &merged {
                Some(request) => CloseReason::MergeRequest(request),
                None => CloseReason::Commit { of: project, sha: &sha },
            };
            if may_close(tx, user, &issue)? {
                close_for(tx, &directory, &issue, cause, user)?;
            }
        }
        Ok(())
    });
    match closed.await {
        // The project went.
        Err(gone) if gone.is_gone() => Ok(()),
        closed => closed,
    }
}

#[cfg(test)]
mod tests {
    /// Nothing is promised to be closed for a message without one of these.
    #[test]
    fn messages_are_looked_through_for_all_that_closes() {
        assert_eq!(repo::push::head::CLOSING, review::merge_request::closing::stems());
    }
}
