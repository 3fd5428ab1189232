//! Who merges.

use std::sync::Arc;

use kernel::{Standing, access::ProjectFacts};
use org::user::User;

/// Somebody who merges, and how they stand in the project.
#[derive(Clone, Debug)]
pub(super) struct By {
    pub(super) facts: Arc<ProjectFacts>,
    pub(super) who: Standing,
    pub(super) user: User,
}
