//! The connection of a subscriber, shared by both transports: its caller, requests and events.

use std::sync::Arc;

use actix_web::HttpRequest;
use forge::{
    memory,
    slots::{FOR, SlotOwner},
};
use graphql::{Operation, Outcome, Request, Response, Schema, Subscription};
use kernel::Error;
use resolvers::{Context, subscriptions::fact::Fact};

use super::connection_slot::{AppHandle, ConnectionSlot};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Caller, RawMap, count, raw_pairs},
    graphql::{
        browser_session::caller_of,
        context_of,
        request_limits::{is_without_deprecated, limits_of, may_query},
    },
    route::MatchedRoute,
};

/// The caller of a connection, by the credentials presented at its start.
pub(super) struct Connection {
    app: App,
    schema: &'static Schema<Context>,
    req: HttpRequest,
    route: MatchedRoute,
    /// Where else a token may be than in the headers.
    given: RawMap,
    /// Whether mutations are refused since the method promises that nothing changes.
    is_safe: bool,
    without_deprecated: bool,
}

impl Connection {
    pub(super) fn new(
        app: App,
        schema: &'static Schema<Context>,
        req: HttpRequest,
        route: MatchedRoute,
        given: RawMap,
        is_safe: bool,
    ) -> Self {
        let without_deprecated = is_without_deprecated(&raw_pairs(req.query_string().as_bytes()));
        Self { app, schema, req, route, given, is_safe, without_deprecated }
    }

    pub(super) fn app(&self) -> &App {
        &self.app
    }

    /// What else was shown, which counts beside the headers.
    pub(super) fn show(&mut self, given: RawMap) {
        self.given.merge(given);
    }

    /// Who the connection is for at this moment.
    ///
    /// # Errors
    /// For a credential that is not good any more.
    pub(super) async fn caller(&self) -> ApiResult<Caller> {
        let caller = caller_of(&self.app, &self.req, &self.given, &self.route).await?;
        match may_query(&caller) {
            true => Ok(caller),
            false => Err(Error::unauthenticated().into()),
        }
    }

    /// For whom work is done.
    pub(super) fn owner(&self, caller: &Caller) -> SlotOwner {
        match caller.actor().id {
            Some(user) => SlotOwner::User(user),
            None => SlotOwner::Address(self.app.proxies.client(&self.req)),
        }
    }

    /// Takes a place for the connection.
    ///
    /// # Errors
    /// Where all places are taken, or the server is about to stop.
    pub(super) fn place(&self, who: SlotOwner) -> kernel::Result<ConnectionSlot> {
        ConnectionSlot::take(AppHandle(self.app.clone()), who)
    }

    /// A connection on which nothing happens ends with its credential, too; not for a fault of the server.
    ///
    /// # Errors
    /// For a credential that is not good any more.
    pub(super) async fn ensure_credential(&self) -> ApiResult<()> {
        match self.caller().await {
            Ok(_) => Ok(()),
            Err(ApiError::Kernel(error)) if error.is_ours() => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Counts a request for its person, or for its address.
    ///
    /// # Errors
    /// When there were too many.
    pub(super) fn count(&self, caller: &Caller) -> ApiResult<()> {
        count(&self.app, &self.req, &self.route, caller.user.as_deref())
    }

    /// Answers a request, or begins a subscription.
    ///
    /// # Errors
    /// For a credential that is not good any more.
    pub(super) async fn begin(&self, request: Request) -> ApiResult<Operation> {
        let caller = self.caller().await?;
        let limits = limits_of(&self.app, &caller, self.is_safe, self.without_deprecated);
        let (owner, access) = (self.owner(&caller), self.app.watch_access());
        let context = context_of(&self.app, &caller);
        let work = self.schema.begin(request, context, limits);
        let begun = FOR.scope(owner, db::caused_by(None, work)).await;
        if !self.is_safe {
            // What the request changed of permissions counts for the next one.
            self.app.follow_access(access).await;
        }
        Ok(begun)
    }

    /// Answers a fact for each of these subscriptions that is told of it, as the caller stands now. An answer is handed on before
    /// the next one is made, as soon as those before it leave room for it.
    ///
    /// # Errors
    /// For a credential that is not good any more, where memory is short, and those of `send`.
    pub(super) async fn tell<'s, E: From<ApiError>>(
        &self,
        fact: &Arc<Fact>,
        subscriptions: impl Iterator<Item = (&'s str, &'s Subscription)>,
        mut send: impl AsyncFnMut(&str, Response) -> Result<(), E>,
    ) -> Result<(), E> {
        let concerned: Vec<(&str, &Subscription)> =
            subscriptions.filter(|(_, one)| one.concerns(&**fact)).collect();
        if concerned.is_empty() {
            return Ok(());
        }
        let caller = self.caller().await?;
        let owner = self.owner(&caller);
        let context = context_of(&self.app, &caller);
        for (id, subscription) in concerned {
            memory::ensure_some().map_err(ApiError::from)?;
            let work = self.schema.answer_event(subscription, fact.clone(), context.clone());
            if let Some(answer) = FOR.scope(owner, work).await {
                send(id, answer).await?;
            }
        }
        Ok(())
    }
}

/// Why something was refused, as an answer to a request.
pub(super) fn refusal(failure: &ApiError) -> Response {
    let (outcome, text) = match failure {
        ApiError::Rate(..) => (
            Outcome::TooManyRequests,
            "This endpoint has been requested too many times. Try again later.",
        ),
        ApiError::Kernel(error) if error.is_ours() => (Outcome::Failed, "Internal server error"),
        _ => (Outcome::Answered, "Invalid token"),
    };
    Response::refusal(outcome, text)
}
