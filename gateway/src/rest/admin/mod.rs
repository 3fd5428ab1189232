//! Webhooks and integrations.

use crate::resources;

pub mod archive_params;
pub mod hook_params;
pub mod import_params;
pub mod integration_params;

resources! {
    archives,
    bulk_imports,
    hooks { self, trials, system },
    imports,
    integrations { self, commands },
}
