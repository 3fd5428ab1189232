//! What the server tells of itself, and what it makes of texts.

use crate::route::RouteRow;

pub mod documents;
pub mod health;
pub mod markdown;
pub mod plan_limits;
pub mod settings;
pub mod version;

pub(super) const TABLES: &[&[RouteRow]] = &[
    documents::ROUTES,
    health::ROUTES,
    markdown::ROUTES,
    plan_limits::ROUTES,
    settings::ROUTES,
    version::ROUTES,
];
