//! How somebody for whom the server acts stands in a project: later than they asked for it, or without a request of theirs.

use std::sync::Arc;

use db::Tx;
use kernel::{Result, Standing, access::ProjectFacts, ids::UserId};
use org::{
    access::{IdOrPath, locate_project},
    user::{State, User, store::UserStore as _},
};

/// A person, and how they stand in a project.
#[derive(Clone, Debug)]
pub struct PersonInProject {
    pub user: User,
    pub facts: Arc<ProjectFacts>,
    pub who: Standing,
}

/// Finds how somebody stands in a project now. `None` where they are gone or blocked, for whom nothing is done any more
/// although they keep their roles, and where they do not know of the project.
pub fn person_in_project(
    tx: &mut Tx<'_>,
    user: UserId,
    project: &IdOrPath,
) -> Result<Option<PersonInProject>> {
    let Some(user) = tx.find_user(user)?.filter(|user| user.state == State::Active) else {
        return Ok(None);
    };
    match locate_project(tx, user.actor(), project) {
        Ok((project, who)) => Ok(Some(PersonInProject { user, facts: project.0, who })),
        Err(gone) if gone.is_gone() => Ok(None),
        Err(failure) => Err(failure),
    }
}
