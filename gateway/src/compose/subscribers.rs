//! Every fact, and who hears it.

use std::any::Any;

use db::Tx;
use kernel::{Result, event::Event, ids::ProjectId};
use org::{namespace::default_branch, project::store::ProjectStore};
use repo::{
    jobs::MaintainRepository,
    protection::{self, actions::DefaultProtection},
};
use worker::Queue;

use super::{jobs::AFTER_PUSH, surveys::SurveyRepository};

/// Heard before the commit, in the same transaction.
pub fn inside(tx: &mut Tx<'_>, fact: &dyn Event) -> Result<()> {
    let fact: &dyn Any = fact;
    match fact.downcast_ref() {
        Some(repo::Event::RefsMoved { project, becomes_default, .. }) => {
            org::project::push::note(tx, *project, becomes_default.as_deref())?;
            if let Some(branch) = becomes_default {
                protect_default_branch(tx, *project, branch)?;
            }
            tx.enqueue(&SurveyRepository { project: *project })?;
            let later = tx.now.plus(AFTER_PUSH);
            tx.enqueue_at(&MaintainRepository { project: *project }, later)
        }
        Some(repo::Event::CommitCommented { .. }) | None => Ok(()),
    }
}

/// The first branch of a repository is protected as its group or the installation wants it.
pub fn protect_default_branch(tx: &mut Tx<'_>, project: ProjectId, branch: &str) -> Result<()> {
    let namespace = tx.project(project)?.namespace_id;
    let level = DefaultProtection::of_number(default_branch::protection(tx, namespace)?);
    protection::actions::protect_default_branch(tx, project, branch, level)
}
