//! Webhooks and integrations.

use crate::route::RouteRow;

pub mod archive_params;
pub mod archives;
pub mod bulk_imports;
pub mod hook_params;
pub mod hooks;
pub mod import_params;
pub mod imports;
pub mod integration_params;
pub mod integrations;

pub(super) const TABLES: &[&[RouteRow]] = &[
    archives::ROUTES,
    bulk_imports::ROUTES,
    hooks::ROUTES,
    hooks::trials::ROUTES,
    hooks::system::ROUTES,
    imports::ROUTES,
    integrations::ROUTES,
    integrations::commands::ROUTES,
];
