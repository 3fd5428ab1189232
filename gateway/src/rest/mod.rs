//! The REST API: one file per resource, each opening with its table of routes.

use crate::route::RouteRow;

pub mod health;
pub mod version;

/// All tables.
pub fn tables() -> Vec<&'static [RouteRow]> {
    vec![health::ROUTES, version::ROUTES]
}
