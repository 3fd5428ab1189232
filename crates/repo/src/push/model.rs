//! A push: the refs to move, the project, and the user.

use std::{fmt, sync::Arc};

use db::Tx;
use kernel::{
    Result, Standing,
    access::ProjectFacts,
    head::{Growth, HeadMove},
    ids::ProjectId,
};

use crate::{
    git::{Oid, RefName, refs::RefMove},
    ports::ForkPushBranches,
};

/// Bytes of push options that are kept with a push.
const MOST_OPTIONS: usize = 64 << 10;

/// The interface by which a push arrives: some refusals differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushSource {
    Api,
    Git,
    /// A merge request that is merged: whoever may merge into a protected branch need not be allowed to push there.
    Merge,
}

/// Changes to make in the transaction in which refs move. They must be repeatable.
#[derive(Clone)]
pub struct InSameTransaction(Arc<TransactionFn>);

type TransactionFn = dyn Fn(&mut Tx<'_>) -> Result<()> + Send + Sync;

impl InSameTransaction {
    pub fn new(deed: impl Fn(&mut Tx<'_>) -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(deed))
    }

    pub(super) fn happen(&self, tx: &mut Tx<'_>) -> Result<()> {
        (self.0)(tx)
    }
}

impl fmt::Debug for InSameTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Also")
    }
}

/// One ref, what the writer saw, where it goes, and what a reader will want to know of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChange {
    pub name: RefName,
    pub old: Option<Oid>,
    /// `None` deletes the ref.
    pub new: Option<Oid>,
    /// Whether commits of the old value are lost: an update that is no fast-forward.
    pub forced: bool,
    /// Whether the new value lies on a protected branch already; asked only where a protected branch is made.
    pub on_protected: bool,
    /// New commits; counted to a limit.
    pub commit_count: i64,
    /// Of the newest commit.
    pub commit_title: Option<String>,
}

impl RefChange {
    /// A move of which only the ends are known.
    pub fn plain(name: RefName, old: Option<Oid>, new: Option<Oid>) -> Self {
        Self {
            name,
            old,
            new,
            forced: false,
            on_protected: false,
            commit_count: 0,
            commit_title: None,
        }
    }

    /// Whether it is a branch or tag that something may run for.
    pub fn may_run(&self) -> bool {
        self.new.is_some() && (self.name.is_branch() || self.name.is_tag())
    }

    pub fn as_move(&self) -> RefMove {
        RefMove { name: self.name.clone(), old: self.old.into(), new: self.new }
    }
}

/// All that moves at once: everything or nothing.
#[derive(Clone, Debug)]
pub struct Push {
    pub project: Arc<ProjectFacts>,
    /// How the pusher stands in the project.
    pub who: Standing,
    pub via: PushSource,
    pub changes: Vec<RefChange>,
    /// The branch that becomes the project's default, where it has none yet.
    pub becomes_default: Option<RefName>,
    /// The commit that the server has just made for it: nobody could have signed that.
    pub made: Option<Oid>,
    /// Whether it is the server's own doing, which no push rule is about.
    pub by_server: bool,
    /// Whether a branch was moved onto another one by the server: nobody has changed what it says.
    pub by_rebase: bool,
    pub also: Option<InSameTransaction>,
    /// Branches of merge requests that allow the pusher to push.
    pub fork_push_access: Option<Arc<dyn ForkPushBranches>>,
    /// What becomes of the default branch, where the push moves it and that was looked at.
    pub head: Option<HeadMove>,
    pub growth: Growth,
    /// What the pusher gave with `--push-option`, as it was given.
    pub options: Vec<String>,
    /// So many branches and tags were made or moved by parts of the same push that came before.
    pub earlier: usize,
    /// Names the push in the journal.
    pub batch: String,
}

impl Push {
    pub fn new(
        project: Arc<ProjectFacts>,
        who: Standing,
        via: PushSource,
        changes: Vec<RefChange>,
    ) -> Self {
        let first = match project.default_branch {
            Some(_) => None,
            None => default_among(&changes),
        };
        let batch = new_batch();
        Self {
            project,
            who,
            via,
            changes,
            becomes_default: first,
            made: None,
            by_server: false,
            by_rebase: false,
            also: None,
            fork_push_access: None,
            head: None,
            growth: Growth::By(0),
            options: Vec::new(),
            earlier: 0,
            batch,
        }
    }

    /// The same with a commit that the server has made.
    pub fn with_made(self, commit: Oid) -> Self {
        Self { made: Some(commit), ..self }
    }

    /// The same as the server's own doing.
    pub fn by_server(self) -> Self {
        Self { by_server: true, ..self }
    }

    /// The same with something else that becomes true with it.
    pub fn with(self, also: InSameTransaction) -> Self {
        Self { also: Some(also), ..self }
    }

    /// The same with what the pusher gave with `--push-option`, as far as anybody would keep it.
    pub fn with_options(self, mut options: Vec<String>) -> Self {
        let mut bytes = 0;
        options.retain(|option| {
            bytes += option.len();
            bytes <= MOST_OPTIONS
        });
        Self { options, ..self }
    }

    /// The same push with the branches of merge requests that allow collaboration.
    pub fn with_fork_push_access(self, fork_push_access: &Arc<dyn ForkPushBranches>) -> Self {
        Self { fork_push_access: Some(Arc::clone(fork_push_access)), ..self }
    }

    /// Some of the changes, as a push of their own.
    pub(super) fn part(&self, changes: Vec<RefChange>) -> Self {
        let holds = |name: &RefName| changes.iter().any(|change| change.name == *name);
        let becomes_default = self.becomes_default.clone().filter(holds);
        Self { becomes_default, changes, batch: new_batch(), ..self.clone() }
    }

    pub fn project_id(&self) -> ProjectId {
        self.project.id
    }

    pub fn moves(&self) -> Vec<RefMove> {
        self.changes.iter().map(RefChange::as_move).collect()
    }
}

/// A name for moves that are decided together.
pub(super) fn new_batch() -> String {
    hex::encode(rand::random::<[u8; 16]>())
}

/// Of several branches that arrive in an empty repository, the one that is most likely meant.
fn default_among(changes: &[RefChange]) -> Option<RefName> {
    let arriving =
        || changes.iter().filter(|change| change.new.is_some() && change.name.is_branch());
    let usual = ["main", "master"];
    usual
        .into_iter()
        .find_map(|name| arriving().find(|change| change.name.short() == name))
        .or_else(|| arriving().next())
        .map(|change| change.name.clone())
}

#[cfg(test)]
mod tests {
    use super::{RefChange, default_among};
    use crate::git::{Oid, RefName};

    #[test]
    fn the_usual_names_become_the_default_first() {
        let some = Oid::NULL;
        let arriving = |names: &[&str]| -> Option<String> {
            let changes: Vec<RefChange> = names
                .iter()
                .map(|name| RefChange::plain(RefName::full(name).unwrap(), None, Some(some)))
                .collect();
            default_among(&changes).map(|name| name.short().into_owned())
        };
        assert_eq!(
            arriving(&["refs/heads/a", "refs/heads/master", "refs/heads/main"]).as_deref(),
            Some("main")
        );
        assert_eq!(arriving(&["refs/heads/b", "refs/heads/a"]).as_deref(), Some("b"));
        assert_eq!(arriving(&["refs/tags/v1"]), None);
    }
}
