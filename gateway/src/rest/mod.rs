//! The REST API: one file per resource, each opening with its table of routes.

use crate::route::RouteRow;

pub mod commits;
pub mod documents;
pub mod health;
pub mod version;

/// All tables.
pub fn tables() -> Vec<&'static [RouteRow]> {
    vec![commits::ROUTES, documents::ROUTES, health::ROUTES, version::ROUTES]
}
