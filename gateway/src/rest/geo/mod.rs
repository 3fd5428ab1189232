//! Nodes of an installation.

use actix_web::{HttpMessage as _, HttpRequest, http::header};
use forge::geo::{authenticate, authenticate_even_paused};
use geo::{
    credential,
    policy::{CallAsGeoNode, ChangeGeoNode},
};
use kernel::{Ability as _, Error};

use crate::{
    app::App,
    error::ApiResult,
    extract::count,
    resources,
    route::{MatchedRoute, RouteRow},
};

pub mod node_params;

resources! {
    nodes { self, sites },
    between_nodes,
}

/// The credential of a node that a request shows, good or not.
pub fn shown_credential(req: &HttpRequest) -> Option<&str> {
    let shown = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    credential::is_shown(shown).then_some(shown)
}

/// Proves the signature of a node before anything else of its request is read, and keeps the proof with the request.
/// Requests of people, and for routes on which no node is heard, pass.
///
/// # Errors
/// 401 for a signature that is missing or does not count, 400 for one on a route of nodes that is for administrators.
pub(crate) async fn admit_node(
    app: &App,
    req: &HttpRequest,
    row: &'static RouteRow,
) -> ApiResult<()> {
    let shown = shown_credential(req);
    let address = app.proxies.client(req);
    let proved = match (row.ability, shown) {
        (CallAsGeoNode::NAME, Some(shown)) => authenticate(app, shown, address).await,
        (CallAsGeoNode::NAME, None) => Err(Error::unauthenticated()),
        (ChangeGeoNode::NAME, Some(shown)) => authenticate_even_paused(app, shown, address).await,
        _ if row.resource == nodes::RESOURCE && shown.is_some() => Err(Error::bad_request()),
        _ => return Ok(()),
    };
    match proved {
        Ok(request) => {
            req.extensions_mut().insert(request);
            Ok(())
        }
        // Who guesses is counted as whoever asks with a wrong token.
        Err(refusal) => {
            count(app, req, &MatchedRoute(row), None)?;
            Err(refusal.into())
        }
    }
}
