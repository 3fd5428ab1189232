//! Fetching repositories from elsewhere over HTTP.

mod fetch;
mod land;
mod protocol;

pub(super) use fetch::Remote;
pub(crate) use fetch::index;
pub(crate) use land::push;
pub(super) use land::{land_branches, land_repository, land_wiki};
