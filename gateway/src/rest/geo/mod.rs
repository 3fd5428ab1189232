//! Nodes of an installation.

use actix_web::{HttpRequest, http::header};
use geo::credential;

use crate::route::RouteRow;

pub mod between_nodes;
pub mod node_params;
pub mod nodes;

pub(super) const TABLES: &[&[RouteRow]] =
    &[nodes::ROUTES, nodes::sites::ROUTES, between_nodes::ROUTES];

/// The credential of a node that a request shows, good or not.
pub fn shown_credential(req: &HttpRequest) -> Option<&str> {
    let shown = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    credential::is_shown(shown).then_some(shown)
}

/// Whether a route of nodes is asked for with the credential of a node, which opens only the one that changes it.
pub fn is_misdirected(row: &RouteRow, req: &HttpRequest) -> bool {
    row.resource == nodes::RESOURCE && row.method != "PUT" && shown_credential(req).is_some()
}
