//! All that a handler may know of its request, checked in the contract's order: credential (401), parameters (400),
//! scope (404), ability (403).

use std::{net::IpAddr, sync::Arc, time::SystemTime};

use actix_web::{HttpMessage, HttpRequest, dev::Payload, http::header::HttpDate};
use ci::job::Job;
use forge::{memory, slots::SlotOwner};
use geo::request::SignedRequest;
use kernel::{
    Ability, Actor, Error, Grant, Standing, Ts, access::Instance, ids::ProjectId, page::PageRequest,
};
use org::{
    application::ClientToken,
    token::{AccessToken, Scopes},
    user::User,
};
use time::Duration;

use super::{
    ParamErrors,
    admission::{ensure_open, ensure_second_open},
    body,
    credential::{self, Proof, authenticate},
    declaration::Declaration,
    locate::Locate,
    raw::{Raw, RawMap},
};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    limits::Limits,
    present::PageLinks,
    rate_limit::Area,
    route::MatchedRoute,
    web::address::RowPath,
};

/// The caller, with the presented credentials.
#[derive(Clone, Debug)]
pub struct Caller {
    pub user: Option<Arc<User>>,
    pub token: Option<Arc<AccessToken>>,
    /// The job that showed its token.
    pub job: Option<Arc<Job>>,
    /// The token of an application that asks for itself. It has no more rights than who shows nothing.
    pub application: Option<Arc<ClientToken>>,
    /// From where.
    address: Option<IpAddr>,
}

impl Caller {
    pub fn anonymous() -> Self {
        Self { user: None, token: None, job: None, application: None, address: None }
    }

    pub fn with_token(user: User, token: AccessToken) -> Self {
        Self { user: Some(user.into()), token: Some(token.into()), ..Self::anonymous() }
    }

    pub fn of_job(user: User, job: Job) -> Self {
        Self { user: Some(user.into()), job: Some(job.into()), ..Self::anonymous() }
    }

    pub fn of_application(token: ClientToken) -> Self {
        Self { application: Some(token.into()), ..Self::anonymous() }
    }

    pub fn actor(&self) -> Actor {
        self.user.as_deref().map_or(Actor::ANONYMOUS, User::actor).at(self.address)
    }

    /// The scopes of the token that was shown, a person's or an application's. Jobs and sessions of browsers have none.
    pub fn scopes(&self) -> Option<Scopes> {
        let own = || self.application.as_ref().map(|token| token.scopes());
        self.token.as_ref().map(|token| token.scopes()).or_else(own)
    }

    /// The person, where the ability was "signed in".
    pub fn user(&self) -> Result<&Arc<User>, Error> {
        self.user.as_ref().ok_or_else(Error::unauthenticated)
    }
}

/// A request whose caller may do `A`, with its parameters `P`.
pub struct Call<A: Ability, P = super::params::NoParams> {
    pub grant: Grant<A>,
    pub params: P,
    pub page: PageRequest,
    pub caller: Caller,
    /// What came, for the few rules that ask whether something was given.
    pub raw: RawMap,
    req: HttpRequest,
}

/// A request that was let in as far as its scope: what its call is made of, once the ability is checked.
pub(crate) struct CallContext<S> {
    pub(crate) scope: S,
    pub(crate) who: Standing,
    pub(crate) parts: CallParts,
}

impl<S> CallContext<S> {
    /// Where the request came from.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.parts.caller.address
    }

    /// For whom the request is answered.
    pub(crate) fn whom(&self) -> SlotOwner {
        slot_owner(self.who.actor, self.address())
    }
}

/// The parts of a call that depend neither on its ability nor on its parameters.
pub(crate) struct CallParts {
    pub(crate) caller: Caller,
    page: PageRequest,
    raw: RawMap,
    req: HttpRequest,
}

/// Checks all but the ability. It knows neither that nor the parameters' type, so that it is compiled once for each scope;
/// `read` reads the parameters.
pub(crate) async fn enter<S: Locate>(
    app: &App,
    req: &HttpRequest,
    payload: &mut Payload,
    route: &MatchedRoute,
    declared: &Declaration,
    read: &mut dyn FnMut(&RawMap) -> Result<(), ParamErrors>,
) -> ApiResult<CallContext<S>> {
    let Input { in_path, mut raw, unread } = input(app, req, payload, route, declared).await?;
    let id = id_of(&in_path);
    let entered = match route.is_probe() {
        // Whether the server lives must not hang on its database.
        true => Ok((Caller::anonymous(), None)),
        false => authenticate::<S>(app, req, &raw, route, &id).await,
    };
    let known = entered.as_ref().ok().and_then(|(caller, _)| caller.user.as_deref());
    count(app, req, route, known)?;
    let (caller, place) = entered?;
    let address = app.proxies.client(req);
    let caller = Caller { address, ..caller };
    let is_of_node = req.extensions().get::<SignedRequest>().is_some();
    if caller.user.is_none() && !route.0.open && !is_of_node {
        return Err(Error::unauthenticated().into());
    }
    if let Some(failure) = unread {
        return Err(failure);
    }
    for (name, value) in in_path {
        raw.set(name, value);
    }
    let page = declared.check(&raw, read(&raw))?;
    if declared.paged {
        let links = PageLinks::new(req.path(), &raw, (declared.defaults)(), page);
        req.extensions_mut().insert(links);
    }
    let from = caller.job.as_ref().map(|job| job.project_id);
    let (scope, who) = located::<S>(app, caller.actor(), id, place, from).await?;
    ensure_open(app, who.actor, scope.project(), route).await?;
    ensure_second_open(app, who.actor, &raw).await?;
    let is_shut_out = from.is_some() && !who.signed_in();
    let caller = match (is_shut_out, route.0.open) {
        (false, _) => caller,
        // A job that the project does not let in.
        (true, true) => Caller { address, ..Caller::anonymous() },
        (true, false) => return Err(Error::unauthenticated().into()),
    };
    Ok(CallContext { scope, who, parts: CallParts { caller, page, raw, req: req.clone() } })
}

/// What comes with a request, before it is known who makes it.
struct Input {
    in_path: Vec<(&'static str, Raw)>,
    /// Of the query and the body.
    raw: RawMap,
    /// Why the body was not read.
    unread: Option<ApiError>,
}

async fn input(
    app: &App,
    req: &HttpRequest,
    payload: &mut Payload,
    route: &MatchedRoute,
    declared: &Declaration,
) -> ApiResult<Input> {
    let own = req.extensions().get::<RowPath>().map(|path| path.0.clone());
    let in_path = route.path_values(own.as_deref().unwrap_or(req.uri().path()));
    if !(declared.has_route)(&in_path) {
        return Err(ApiError::NoRoute);
    }
    let mut raw = body::pairs(req.query_string().as_bytes());
    let limits = match body::is_long(req) {
        true => before_a_long_body(app, req, &raw, route).await?,
        false => app.limits,
    };
    let from_body = body::parameters(req, payload, limits, declared.describe).await;
    let unread = match from_body {
        Ok(given) => {
            raw.merge(given);
            None
        }
        Err(failure) => Some(failure),
    };
    Ok(Input { in_path, raw, unread })
}

/// The path's `{id}`; empty where there is none.
fn id_of(in_path: &[(&str, Raw)]) -> String {
    match in_path.iter().find(|(name, _)| *name == "id") {
        Some((_, Raw::Text(id))) => id.clone(),
        _ => String::new(),
    }
}

/// The scope, and how the caller stands in it: from what was read with their token, where that is the whole answer. A job
/// comes from its project.
async fn located<S: Locate>(
    app: &App,
    actor: Actor,
    id: String,
    place: Option<S::Place>,
    from: Option<ProjectId>,
) -> ApiResult<(S, Standing)> {
    let known = match S::without_rows(actor) {
        None => place.map(|place| S::stand(place, actor)).transpose()?.flatten(),
        found => found,
    };
    match (known, from) {
        (Some(found), _) => Ok(found),
        (None, Some(from)) => {
            Ok(app.db.peek(move |tx| S::locate_for_job(tx, actor, from, &id)).await?)
        }
        (None, None) => Ok(app.db.peek(move |tx| S::locate(tx, actor, &id)).await?),
    }
}

/// Bounds for a body that is long enough to be a burden: it is not read for who shows a credential that is not good,
/// and without one only as much of it as may hold one.
async fn before_a_long_body(
    app: &App,
    req: &HttpRequest,
    query: &RawMap,
    route: &MatchedRoute,
) -> ApiResult<Limits> {
    if route.is_probe() {
        return Ok(app.limits.for_strangers());
    }
    memory::ensure_some()?;
    match credential::find::<Instance>(app, req, query, route, "").await {
        Ok(Some(Proof::Person(_))) => Ok(app.limits),
        Ok(Some(Proof::Application(_)) | None) => Ok(app.limits.for_strangers()),
        Err(refusal) => {
            count(app, req, route, None)?;
            Err(refusal)
        }
    }
}

/// Who makes a request whose handler reads the body itself; `given` is where else a token may be.
pub async fn identify(
    app: &App,
    req: &HttpRequest,
    given: &RawMap,
    route: &MatchedRoute,
) -> ApiResult<Caller> {
    let (caller, _) = authenticate::<Instance>(app, req, given, route, "").await?;
    Ok(Caller { address: app.proxies.client(req), ..caller })
}

/// For questions about a path's methods: whoever shows a credential must show a good one.
pub async fn ensure_known(app: &App, req: &HttpRequest, row: &MatchedRoute) -> ApiResult<()> {
    let query = body::pairs(req.query_string().as_bytes());
    let found = credential::find::<Instance>(app, req, &query, row, "").await;
    let user = found.as_ref().ok().and_then(|found| found.as_ref()?.user());
    count(app, req, row, user)?;
    found.map(drop)
}

/// Counts a request for its person, or for its address: guesses at credentials count there, too.
pub fn count(
    app: &App,
    req: &HttpRequest,
    route: &MatchedRoute,
    user: Option<&User>,
) -> ApiResult<()> {
    if route.is_probe() {
        return Ok(());
    }
    let area = match route.0.pattern {
        pattern if pattern.contains("/repository/files/") => Area::Files,
        pattern if pattern.starts_with("//") && !pattern.starts_with("//api/") => Area::Web,
        _ => Area::Api,
    };
    let within = match user {
        Some(user) => app.rates.check_user(user.id, area),
        None => app.rates.check_address(app.proxies.client(req), area),
    };
    let within = within.and_then(|()| match req.method().is_safe() {
        true => Ok(()),
        false => app.rates.check_protected(app.proxies.client(req), req.path()),
    });
    within.map_err(|refusal| ApiError::Rate(refusal, app.db.clock().now()))
}

/// The end of the whole second that a header tells.
fn second_end(told: &str) -> Option<Ts> {
    let at = match told.parse::<HttpDate>() {
        Ok(date) => Ts::from_datetime(SystemTime::from(date).into()),
        Err(_) => Ts::parse(told)?,
    };
    Some(Ts::from_unix(at.unix()).plus(Duration::microseconds(999_999)))
}

fn slot_owner(actor: Actor, address: Option<IpAddr>) -> SlotOwner {
    match actor.id {
        Some(user) => SlotOwner::User(user),
        None => SlotOwner::Address(address),
    }
}

impl<A: Ability, P> Call<A, P> {
    /// The call of a request whose ability was checked.
    pub(crate) fn of(grant: Grant<A>, params: P, parts: CallParts) -> Self {
        let CallParts { caller, page, raw, req } = parts;
        Self { grant, params, page, caller, raw, req }
    }

    /// A request header, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.req.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// The moment after which the caller wants nothing taken away that changed: its whole second.
    pub fn unmodified_since(&self) -> Option<Ts> {
        self.header("If-Unmodified-Since").and_then(second_end)
    }

    /// What a node signed of the request, where it was proved.
    pub fn signed_request(&self) -> Option<SignedRequest> {
        self.req.extensions().get::<SignedRequest>().cloned()
    }

    /// For whom the request is answered.
    pub fn whom(&self) -> SlotOwner {
        slot_owner(self.grant.actor(), self.address())
    }

    /// The request's path, still percent-encoded and without a slash at its end.
    pub fn path(&self) -> &str {
        self.req.uri().path().trim_end_matches('/')
    }

    /// Where the request came from.
    pub fn address(&self) -> Option<IpAddr> {
        self.caller.address
    }

    /// Whether a page wants to show the answer as one of its pictures, films, sounds or scripts.
    pub fn is_embedded(&self) -> bool {
        let kinds = ["image/", "video/", "audio/", "text/css", "text/javascript"];
        let first = self.header("Accept").unwrap_or_default();
        kinds.iter().any(|kind| first.starts_with(kind))
            || matches!(self.header("Sec-Fetch-Dest"), Some("script" | "style" | "image"))
    }

    /// Whether the request was made with this method.
    pub fn is_method(&self, method: &str) -> bool {
        self.req.method().as_str() == method
    }
}

impl From<String> for Raw {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
