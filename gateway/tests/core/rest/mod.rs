//! A folder for each domain and a file for each resource, as in the gateway.

pub(crate) mod org;
pub(crate) mod repo;
pub(crate) mod review;
mod shared;
