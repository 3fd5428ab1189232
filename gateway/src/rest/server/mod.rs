//! What the server tells of itself, and what it makes of texts.

use crate::route::RouteRow;

pub mod appearance;
pub mod audit_events;
pub mod broadcast_messages;
pub mod documents;
pub mod features;
pub mod health;
pub mod markdown;
pub mod packages;
pub mod plan_limits;
pub mod settings;
pub mod statistics;
pub mod version;

pub(super) const TABLES: &[&[RouteRow]] = &[
    appearance::ROUTES,
    audit_events::ROUTES,
    audit_events::of_groups::ROUTES,
    audit_events::of_projects::ROUTES,
    broadcast_messages::ROUTES,
    documents::ROUTES,
    features::ROUTES,
    health::ROUTES,
    markdown::ROUTES,
    packages::ROUTES,
    plan_limits::ROUTES,
    settings::ROUTES,
    statistics::ROUTES,
    version::ROUTES,
];
