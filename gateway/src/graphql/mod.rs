//! The GraphQL interface over HTTP: the endpoint that answers queries, its subscriptions, and the page to write queries on.
//!
//! The schema and its resolvers are in the crate `resolvers`.

mod answers;
mod browser_session;
mod endpoint;
mod explorer;
mod request_body;
mod request_limits;
mod subscriptions;

use std::sync::Arc;

use resolvers::Context;

use crate::{
    app::App,
    extract::Caller,
    route::{Description, RouteRow},
};

pub(crate) const TABLES: &[&[RouteRow]] = &[endpoint::ROUTES, explorer::ROUTES];
pub(crate) const DESCRIPTIONS: &[&[Description]] =
    &[endpoint::DESCRIPTIONS, explorer::DESCRIPTIONS];

/// What resolvers may use for a caller.
fn context_of(app: &App, caller: &Caller) -> Arc<Context> {
    Arc::new(Context::new(
        app.forge.clone(),
        app.rates.clone(),
        caller.actor(),
        caller.user.clone(),
    ))
}
