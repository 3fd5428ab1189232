//! The ports of `repo`.

use std::collections::HashSet;

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::user::{addresses, store::UserStore};
use repo::{
    ports::{Membership, People},
    push_rule::{Person, judge::Address},
};

use crate::urls::Urls;

/// Members of a project, from `org`.
#[derive(Clone, Copy, Debug)]
pub struct Members;

impl Membership for Members {
    fn is_member(&self, tx: &mut Tx<'_>, project: ProjectId, user: UserId) -> Result<bool> {
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        Ok(org::access::level_in_project(tx, actor, project)? > AccessLevel::NoAccess)
    }

    fn is_invited(&self, tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<bool> {
        org::access::is_shared_with(tx, project, group)
    }
}

/// Users by e-mail address, from `org`.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// Knows how private addresses end.
    pub urls: Urls,
}

impl People for Accounts {
    fn known(&self, tx: &mut Tx<'_>, emails: &[String]) -> Result<HashSet<String>> {
        addresses::known(tx, emails, &self.urls.private_mail_host())
    }

    fn person(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Person> {
        let name = tx.user(user)?.name;
        let theirs = addresses::of(tx, user, &self.urls.private_mail_host())?.into_iter();
        let addresses =
            theirs.map(|one| Address { email: one.email, confirmed: one.confirmed }).collect();
        Ok(Person { name, addresses })
    }
}
