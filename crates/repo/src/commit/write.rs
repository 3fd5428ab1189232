//! Making commits on behalf of the API: the objects first, then one push to the branch.

use std::sync::Arc;

use db::{Database, Tx};
use kernel::{
    Ability,
    AccessLevel::Developer,
    Error, Grant, Result, Standing,
    access::{Project, ProjectFacts},
    error::Kind,
    head::Growth,
};

use crate::{
    git::{
        CommitInfo, Git, GitError, Oid, RefName, RepoPath, Repositories, Signature, Storage,
        branch_name::looks_like_id,
        change::{self, ActionKind, Change, ChangeError, NewCommit},
        merge::{self, Apply, MergedRequest, Operation, Subject},
        refs,
    },
    policy::{NOT_YOUR_BRANCH, PushToBranch},
    ports::{AfterPush, ForkPushBranches, People},
    protection,
    push::{self, Incoming, Journal, LostRef, Push, PushSource, RefChange, RefRejection},
};

/// So often a commit is made again on top of what others committed meanwhile.
const TRIES: u32 = 12;

/// Everything that a write needs beside the permission.
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    pub db: &'a Database,
    pub git: &'a Git,
    pub storage: &'a Storage,
    pub repositories: &'a Repositories,
    pub journal: &'a Journal,
    pub people: &'a Arc<dyn People>,
    pub fork_push_access: &'a Arc<dyn ForkPushBranches>,
    pub aftermath: &'a Arc<dyn AfterPush>,
}

/// The style of error texts for a refused change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalStyle {
    Commit,
    /// Of the endpoints that write a single file.
    File(ActionKind),
}

impl RefusalStyle {
    fn of(self, error: ChangeError) -> Error {
        match (self, error) {
            (Self::File(kind), ChangeError::Refused(refusal)) => {
                Error::bad_request().whole(refusal.of_one_file(kind))
            }
            (_, ChangeError::Git(GitError::NotFound)) => Error::not_found("Repository"),
            (_, error) => error.into(),
        }
    }
}

/// Refuses a branch that its protection keeps from the caller. What no branch can be called is for later checks.
pub fn ensure_may_push(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: &ProjectFacts,
    branch: &str,
    fork_push_access: &dyn ForkPushBranches,
) -> Result<()> {
    let refused = || Error::bad_request().whole(NOT_YOUR_BRANCH);
    let name = RefName::branch(branch).ok().filter(|_| !looks_like_id(branch));
    let Some(name) = name else {
        return if who.writes(Developer) { Ok(()) } else { Err(refused()) };
    };
    // The move of a branch that is there: who may make a protected branch is who may push to it.
    let moved = RefChange::plain(name, Some(Oid::NULL), Some(Oid::NULL));
    let checked = protection::rules::check_change(
        tx,
        who,
        project,
        &moved,
        PushSource::Api,
        Some(fork_push_access),
    );
    checked.map_err(|refusal| match refusal.is_whole(Kind::BadRequest) {
        true => refused(),
        false => refusal,
    })
}

impl Writer<'_> {
    /// As the function of this name.
    pub async fn ensure_may_push<A: Ability<Scope = Project>>(
        &self,
        grant: &Grant<A>,
        branch: &str,
    ) -> Result<()> {
        let (who, facts, branch) = (*grant.who(), grant.facts().clone(), branch.to_owned());
        let fork_push_access = Arc::clone(self.fork_push_access);
        self.db.peek(move |tx| ensure_may_push(tx, &who, &facts, &branch, &*fork_push_access)).await
    }

    /// Commits file actions to a branch.
    pub async fn commit(
        &self,
        grant: &Grant<PushToBranch>,
        change: Change,
        words: RefusalStyle,
    ) -> Result<Oid> {
        self.ensure_may_push(grant, &change.branch).await?;
        let repo = self.storage.repository(grant.project());
        let title = title(&change.message);
        for _ in 0..TRIES {
            let built = change::build(self.git, &repo, change.clone()).await;
            let new = built.map_err(|error| words.of(error))?;
            let (id, seen) = (new.id, new.branch.old.oid());
            match self.land(grant, new, title.clone()).await {
                Ok(()) => return Ok(id),
                Err(RefRejection::Failed(error)) => return Err(error),
                Err(RefRejection::Lost(lost)) => {
                    if !self.may_follow(&repo, &change, seen, &lost).await? {
                        return Err(words.of(refusal_of(lost)));
                    }
                }
            }
        }
        let branch = RefName::branch(&change.branch)?;
        Err(words.of(change::Refusal::BranchMoved(branch).into()))
    }

    /// Whether the change can be made again on top of what somebody else committed meanwhile: it starts at the branch
    /// itself, and they have touched other files.
    async fn may_follow(
        &self,
        repo: &RepoPath,
        change: &Change,
        seen: Option<Oid>,
        lost: &LostRef,
    ) -> Result<bool> {
        let (LostRef::Moved(branch), Some(seen)) = (lost, seen) else { return Ok(false) };
        if !change.grows_from_its_branch() {
            return Ok(false);
        }
        let now = refs::read(repo, [branch]).await?.get(branch).copied();
        let Some(now) = now.filter(|now| *now != seen) else { return Ok(false) };
        let touched = Incoming::settled(self.git, repo).changed_paths(seen, now).await?;
        Ok(!change.touches_any(&touched))
    }

    /// Picks or reverts a commit onto a branch; a dry run only says whether that would work.
    pub async fn apply(&self, grant: &Grant<PushToBranch>, pick: Pick) -> Result<Option<Oid>> {
        let repo = self.storage.repository(grant.project());
        let (title, operation) = (pick.title(), pick.operation);
        let subject = if pick.merged.is_some() { Subject::MergeRequest } else { Subject::Commit };
        let (merged, commit) = (pick.merged.as_ref(), &pick.commit);
        let usual = merged.map(|merged| merged.message(operation, &commit.message, commit.id));
        let request = Apply {
            operation,
            branch: pick.branch,
            tip: pick.tip,
            commit: pick.commit.id,
            committer: pick.committer,
            message: pick.message.or(usual),
        };
        let explain = |error| operation.explain(error, subject);
        let ready = merge::apply(self.git, &repo, request).await.map_err(explain)?;
        if pick.dry_run {
            return Ok(None);
        }
        let new = ready.write(self.git, &repo).await?;
        let id = new.id;
        self.land(grant, new, title).await?;
        Ok(Some(id))
    }

    /// Moves the branch to its new commit.
    async fn land(
        &self,
        grant: &Grant<PushToBranch>,
        new: NewCommit,
        title: String,
    ) -> Result<(), RefRejection> {
        let repo = self.storage.repository(grant.project());
        let old = new.branch.old.oid();
        let forced = match (old, new.parent) {
            (Some(old), Some(parent)) if old != parent => {
                !merge::is_ancestor(self.git, &repo, old, parent).await?
            }
            (Some(old), parent) => Some(old) != parent,
            (None, _) => false,
        };
        let change = RefChange {
            forced,
            commit_count: 1,
            commit_title: Some(title),
            ..RefChange::plain(new.branch.name, old, new.branch.new)
        };
        let (facts, who) = (grant.facts().clone(), *grant.who());
        let mut push = Push::new(facts, who, PushSource::Api, vec![change]).with_made(new.id);
        push.growth = Growth::By(new.bytes);
        push::try_apply(*self, push).await
    }
}

/// In the words of those who commit.
fn refusal_of(lost: LostRef) -> ChangeError {
    match lost {
        LostRef::Exists(name) => change::Refusal::BranchExists(name.short().into_owned()).into(),
        LostRef::Moved(name) => change::Refusal::BranchMoved(name).into(),
        LostRef::InTheWay { .. } => change::Refusal::InTheWay(lost.text()).into(),
    }
}

/// A commit that is to be picked or reverted.
#[derive(Clone, Debug)]
pub struct Pick {
    pub operation: Operation,
    pub commit: CommitInfo,
    pub branch: RefName,
    /// Where the branch was seen.
    pub tip: Oid,
    pub committer: Signature,
    /// Instead of the usual message.
    pub message: Option<String>,
    pub dry_run: bool,
    /// What the commit merged, as far as the caller may know.
    pub merged: Option<MergedRequest>,
}

impl Pick {
    fn title(&self) -> String {
        match (&self.message, self.operation) {
            (Some(message), _) => title(message),
            (None, Operation::CherryPick) => self.commit.title.clone(),
            (None, Operation::Revert) => {
                title(&merge::revert_message(&self.commit.title, self.commit.id))
            }
        }
    }
}

fn title(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
