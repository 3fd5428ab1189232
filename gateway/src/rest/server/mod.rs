//! Endpoints of the server itself, and rendering of texts.

use crate::resources;

resources! {
    appearance,
    audit_events { self, of_groups, of_projects },
    broadcast_messages,
    documents,
    features,
    health,
    markdown,
    packages,
    plan_limits,
    settings,
    statistics,
    version,
}
