//! Webhooks and integrations.

use crate::route::RouteRow;

pub mod hook_params;
pub mod hooks;
pub mod import_params;
pub mod imports;
pub mod integration_params;
pub mod integrations;

pub(super) const TABLES: &[&[RouteRow]] = &[
    hooks::ROUTES,
    hooks::trials::ROUTES,
    hooks::system::ROUTES,
    imports::ROUTES,
    integrations::ROUTES,
    integrations::commands::ROUTES,
];
