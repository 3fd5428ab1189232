//! Limits of a GraphQL request by caller.

use std::time::Duration;

use graphql::{Limits, Mutations};
use kernel::{
    Result,
    ids::{PipelineScheduleId, UserId},
};
use org::{token::Scope, user::User};
use resolvers::RequestRates;

use crate::{
    app::App,
    error::ApiError,
    extract::{Caller, RawMap},
    rate_limit::Rates,
};

/// How long the execution of a request may take.
const TIME: Duration = Duration::from_secs(30);

/// Whether a URL wants deprecated members to count as absent.
pub(super) fn is_without_deprecated(url: &RawMap) -> bool {
    matches!(url.text("remove_deprecated"), Some("true" | "1"))
}

/// Whether the token that was shown, if any is, has a scope that suffices for queries.
pub(super) fn may_query(caller: &Caller) -> bool {
    let enough = [Scope::Api, Scope::ReadApi];
    caller.scopes().is_none_or(|scopes| enough.into_iter().any(|scope| scopes.has(scope)))
}

/// What a request of somebody may do.
pub(super) fn limits_of(
    app: &App,
    caller: &Caller,
    is_safe: bool,
    without_deprecated: bool,
) -> Limits {
    let (complexity, depth) = match &caller.user {
        None => (200, 15),
        Some(user) if user.admin => (300, 20),
        Some(_) => (250, 20),
    };
    let mutations = mutations(app, caller, is_safe);
    Limits { complexity, depth, mutations, without_deprecated, time: TIME }
}

/// Whether the request may change anything.
fn mutations(app: &App, caller: &Caller, is_safe: bool) -> Mutations {
    if is_safe {
        return Mutations::ForbiddenByMethod;
    }
    if let Some(reason) = app.write_refusal() {
        let text = match ApiError::from(reason) {
            ApiError::Maintenance(text) => text,
            _ => "You cannot perform write operations on a read-only instance".to_owned(),
        };
        return Mutations::Refused(text);
    }
    match caller.scopes() {
        Some(scopes) if !scopes.has(Scope::Api) => Mutations::ForbiddenByScope,
        _ => Mutations::Allowed,
    }
}

/// The limits of REST count what GraphQL does, too.
impl RequestRates for Rates {
    fn check_note(&self, author: &User) -> Result<()> {
        Self::check_note(self, author)
    }

    fn check_issue(&self, user: UserId) -> Result<()> {
        Self::check_issue(self, user)
    }

    fn check_person(&self, reader: &User) -> Result<()> {
        Self::check_person(self, reader)
    }

    fn check_schedule_play(&self, schedule: PipelineScheduleId, user: UserId) -> Result<()> {
        Self::check_schedule_play(self, schedule, user)
    }
}
