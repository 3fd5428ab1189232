//! The ports of this crate: questions about users and members that others answer.

use std::{collections::HashSet, fmt};

use db::Tx;
use kernel::{
    Result, Standing,
    ids::{NamespaceId, ProjectId, UserId},
};

use futures_util::future::BoxFuture;

use crate::{push::Push, push_rule::Person};

/// Users by e-mail address.
pub trait People: Send + Sync {
    /// Which of these addresses belong to somebody, confirmed or not. All are in small letters.
    fn known(&self, tx: &mut Tx<'_>, emails: &[String]) -> Result<HashSet<String>>;
    /// What commits of this person may say.
    fn person(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Person>;
}

/// Push access to source branches of merge requests from forks.
pub trait ForkPushBranches: Send + Sync + fmt::Debug {
    /// The branches of a project that a user may push to because of `allow_collaboration`.
    fn fork_push_branches(
        &self,
        tx: &mut Tx<'_>,
        who: &Standing,
        project: ProjectId,
    ) -> Result<HashSet<String>>;
}

/// Work that must be done after refs moved and before the pusher is answered.
pub trait AfterPush: Send + Sync {
    /// May be left undone, as in a crash: whoever needs it has written it down in the transaction of the push.
    fn follow<'a>(&'a self, push: &'a Push) -> BoxFuture<'a, Result<()>>;
}

/// Members of a project.
pub trait Membership {
    /// Whether the person has a role in the project, own, inherited or by invitation.
    fn is_member(&self, tx: &mut Tx<'_>, project: ProjectId, user: UserId) -> Result<bool>;
    /// Whether the project is shared with the group.
    fn is_invited(&self, tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<bool>;
}
