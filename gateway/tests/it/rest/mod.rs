//! A folder for each domain and a file for each resource, as in the gateway.

mod admin;
mod ci;
mod deployments;
mod geo;
pub(crate) mod runners;
pub(crate) mod security;
mod server;
