//! The table form of routes, the check that a row and its handler agree, and the way from a path to a row.

use std::{marker::PhantomData, net::IpAddr, sync::Arc, time::Instant};

use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    dev::Payload,
    http::header::{self, HeaderName, HeaderValue},
};
use forge::{
    performance_bar,
    slots::{FOR, SlotOwner},
};
use futures_util::future::LocalBoxFuture;
use kernel::{Ability, Actor, Error, Grant, access::Standing};
use org::token::Scope;
use percent_encoding::percent_decode_str;

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Call, CallContext, Declaration, ParamErrors, Params, Raw, RawMap, enter},
    openapi::{AnswerDoc, Operation, Schemas},
    present::Answer,
};

pub use crate::extract::Locate;

/// Where the REST API begins.
pub const ROOT: &str = "/api/v4";

/// A row of the API, as the server, the tests and the documents read it.
#[derive(Clone, Copy)]
pub struct RouteRow {
    pub method: &'static str,
    /// Below [`ROOT`], or from the server's root when it begins with `//`.
    pub pattern: &'static str,
    pub handler: &'static str,
    /// What the resource file says of itself.
    pub resource: &'static str,
    pub ability: &'static str,
    pub scope: &'static str,
    /// Whether callers without a credential are heard.
    pub open: bool,
    pub allows: fn(&Standing) -> bool,
    /// Scopes that suffice to read here, beside `api` and `read_api`; `None` where any scope does.
    pub also: Option<&'static [Scope]>,
    /// Whether a job that runs is heard with its token, as whoever it runs for.
    pub for_jobs: bool,
    pub serve: fn(App, HttpRequest, Payload, MatchedRoute) -> LocalBoxFuture<'static, HttpResponse>,
}

/// What documents say of a row. It stands beside the rows and not in them, so that the schemas of all answers are no code of
/// the server, which answers with `docs/openapi.json`.
pub type Description = fn(&mut Schemas) -> Operation;

impl RouteRow {
    /// Whether nothing changes here, so that a token suffices that only reads.
    pub fn reads(&self) -> bool {
        matches!(self.method, "GET" | "HEAD") || self.pattern == "/markdown"
    }

    /// The path from the server's root.
    pub fn full_pattern(&self) -> String {
        match self.pattern.strip_prefix("//") {
            Some(path) => format!("/{path}"),
            None => format!("{ROOT}{}", self.pattern),
        }
    }
}

impl std::fmt::Debug for RouteRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.pattern)
    }
}

/// The row that a request was matched to.
#[derive(Clone, Copy, Debug)]
pub struct MatchedRoute(pub &'static RouteRow);

impl MatchedRoute {
    pub fn also(&self) -> &'static [Scope] {
        self.0.also.unwrap_or_default()
    }

    /// Whether load balancers and Prometheus ask here, however often they like.
    pub fn is_probe(&self) -> bool {
        self.0.resource == "Health"
    }

    pub fn any_scope(&self) -> bool {
        self.0.also.is_none()
    }

    /// The values of the pattern's names in `path`, which is still percent-encoded.
    pub fn path_values(&self, path: &str) -> Vec<(&'static str, Raw)> {
        let pattern = self.0.pattern.trim_start_matches('/').split('/');
        let path = match self.0.pattern.starts_with("//") {
            true => path.trim_start_matches('/'),
            false => path.strip_prefix(ROOT).unwrap_or(path).trim_start_matches('/'),
        };
        let mut rest = Some(path);
        let mut values = Vec::new();
        for name in pattern {
            let Some(left) = rest else { break };
            let name = bare_name(name);
            // A name with a star stands for all that is left.
            if let Some(all) = name.and_then(|name| name.strip_prefix('*')) {
                values.push((all, decoded(left)));
                break;
            }
            let (value, behind) = left.split_once('/').map_or((left, None), |(a, b)| (a, Some(b)));
            if let Some(name) = name {
                values.push((name, decoded(without_suffix(name, value))));
            }
            rest = behind;
        }
        values
    }
}

fn bare_name(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// A number without the `.json` that older clients add; names of files and branches may well end so.
fn without_suffix<'a>(name: &str, value: &'a str) -> &'a str {
    let is_id = name == "id" || name.ends_with("_id");
    let number = value.strip_suffix(".json").filter(|_| is_id);
    number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(value)
}

fn decoded(segment: &str) -> Raw {
    Raw::from_bytes(percent_decode_str(segment).collect())
}

/// Runs a handler whose first arguments are the application and the call that the row demands. It is compiled for each row,
/// as is `RowCall`; all else about a request is compiled once, or once for each scope.
pub fn run<A, P, R, F, Fut>(
    handler: F,
    app: App,
    req: HttpRequest,
    payload: Payload,
    matched: MatchedRoute,
) -> LocalBoxFuture<'static, HttpResponse>
where
    A: Ability<Scope: Locate>,
    P: Params,
    R: Answer + 'static,
    F: Fn(App, Call<A, P>) -> Fut + 'static,
    Fut: Future<Output = ApiResult<R>> + 'static,
{
    let row = RowCall::<A, P, F> { params: None, handler, ability: PhantomData };
    let declared = const { &Declaration::of::<P>() };
    serve::<A::Scope>(app, req, payload, matched, declared, Box::new(row))
}

/// A handler at work.
type Work = LocalBoxFuture<'static, ApiResult<HttpResponse>>;

/// What of a request only its row knows: the types of its parameters, its ability and its handler.
trait Row<S> {
    /// Reads the parameters, and keeps them.
    fn read(&mut self, raw: &RawMap) -> Result<(), ParamErrors>;

    /// Checks the ability, and calls the handler with the parameters that were read.
    fn start(&mut self, app: &App, req: &HttpRequest, context: CallContext<S>) -> ApiResult<Work>;
}

struct RowCall<A, P, F> {
    params: Option<P>,
    handler: F,
    ability: PhantomData<A>,
}

impl<A, P, R, F, Fut> Row<A::Scope> for RowCall<A, P, F>
where
    A: Ability<Scope: Locate>,
    P: Params,
    R: Answer + 'static,
    F: Fn(App, Call<A, P>) -> Fut,
    Fut: Future<Output = ApiResult<R>> + 'static,
{
    fn read(&mut self, raw: &RawMap) -> Result<(), ParamErrors> {
        read_into(&mut self.params, raw)
    }

    fn start(
        &mut self,
        app: &App,
        req: &HttpRequest,
        context: CallContext<A::Scope>,
    ) -> ApiResult<Work> {
        let CallContext { scope, who, parts } = context;
        let grant = Grant::<A>::check(&who, scope)?;
        let params = self.params.take().ok_or_else(nothing_read)?;
        let work = (self.handler)(app.clone(), Call::of(grant, params, parts));
        let request = req.clone();
        Ok(Box::pin(async move { Ok(work.await?.respond(&request)) }))
    }
}

// Rows share types of parameters: a copy in each would be much code.
#[inline(never)]
fn read_into<P: Params>(params: &mut Option<P>, raw: &RawMap) -> Result<(), ParamErrors> {
    *params = Some(P::read(raw)?);
    Ok(())
}

#[cold]
fn nothing_read() -> ApiError {
    Error::internal("no parameters were read").into()
}

/// Who made a request, and when its handler began.
#[derive(Clone, Copy)]
struct RowCaller {
    actor: Actor,
    address: Option<IpAddr>,
    who: SlotOwner,
    begun: Instant,
}

/// Serves a request of a row. It knows none of its types but the scope.
#[inline(never)]
fn serve<S: Locate>(
    app: App,
    req: HttpRequest,
    mut payload: Payload,
    matched: MatchedRoute,
    declared: &'static Declaration,
    mut row: Box<dyn Row<S>>,
) -> LocalBoxFuture<'static, HttpResponse> {
    Box::pin(async move {
        let mut read = |raw: &RawMap| row.read(raw);
        let entered = enter::<S>(&app, &req, &mut payload, &matched, declared, &mut read).await;
        let started = entered.and_then(|context| {
            let (actor, address) = (context.parts.caller.actor(), context.address());
            let who = context.whom();
            let work = row.start(&app, &req, context)?;
            Ok((RowCaller { actor, address, who, begun: Instant::now() }, work))
        });
        drop(row);
        match started {
            Ok((caller, work)) => concluded(&app, &req, caller, work).await,
            Err(failure) => failure.error_response(),
        }
    })
}

/// What a handler is surrounded by.
async fn concluded(app: &App, req: &HttpRequest, caller: RowCaller, work: Work) -> HttpResponse {
    let RowCaller { actor, address, who, begun } = caller;
    let origin = db::Origin { user: actor.id, address };
    let answer = db::with_origin(origin, answered(app, req, who, work)).await;
    timed(app, req, (actor, begun), answer).await
}

/// The cookie of a browser whose person wants to see how long requests take.
const BAR: &str = "perf_bar_enabled=true";

/// Adds how long a request took, for whom the settings let see it.
async fn timed(
    app: &App,
    req: &HttpRequest,
    (actor, begun): (Actor, Instant),
    mut answer: HttpResponse,
) -> HttpResponse {
    let cookies = req.headers().get(header::COOKIE).and_then(|cookies| cookies.to_str().ok());
    let is_wanted = cookies.is_some_and(|all| all.split(';').any(|one| one.trim() == BAR));
    if is_wanted && let Ok(true) = performance_bar::is_shown_to(app, actor).await {
        let told = format!("total;dur={:.3}", begun.elapsed().as_secs_f64() * 1000.0);
        if let Ok(told) = HeaderValue::from_str(&told) {
            answer.headers_mut().insert(HeaderName::from_static("server-timing"), told);
        }
    }
    answer
}

/// The webhook event whose receiver made the request, as it says itself.
fn cause(req: &HttpRequest) -> Option<Arc<str>> {
    let given = req.headers().get("X-Gitlab-Event-UUID")?.to_str().ok()?;
    let is_uuid =
        given.len() == 36 && given.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    is_uuid.then(|| Arc::from(given.to_ascii_lowercase()))
}

/// What follows every handler, in one type for all of them.
pub async fn answered(
    app: &App,
    req: &HttpRequest,
    who: SlotOwner,
    work: LocalBoxFuture<'_, ApiResult<HttpResponse>>,
) -> HttpResponse {
    let access = app.watch_access();
    match FOR.scope(who, db::caused_by(cause(req), work)).await {
        Ok(answer) => {
            // Somebody who only reads does not wait for the changes of others.
            if !req.method().is_safe() {
                app.follow_access(access).await;
            }
            answer
        }
        Err(failure) => failure.error_response(),
    }
}

/// Describes a handler by its types alone.
pub fn describe<A, P, R, F, Fut>(_: F, schemas: &mut Schemas) -> Operation
where
    A: Ability<Scope: Locate>,
    P: Params,
    R: Answer,
    F: Fn(App, Call<A, P>) -> Fut,
    Fut: Future<Output = ApiResult<R>>,
{
    operation(const { &Declaration::of::<P>() }, R::describe, schemas)
}

fn operation(
    declared: &Declaration,
    answer: fn(&mut Schemas) -> AnswerDoc,
    schemas: &mut Schemas,
) -> Operation {
    let Declaration { paged, keyset, describe, .. } = *declared;
    Operation { params: describe(), paged, keyset, answer: answer(schemas) }
}

/// A resource's routes: one a line, `METHOD "path" => handler : Ability`. The handler must take a call of the same
/// ability, or it does not compile. `also [Scope…]` names scopes that suffice to read; `any scope` asks for none. Behind an
/// ability, `also JobToken` lets jobs that run ask with their tokens.
#[macro_export]
macro_rules! routes {
    (@for_jobs) => { false };
    (@for_jobs JobToken) => { true };
    ($resource:literal at $base:literal; $($rows:tt)*) => {
        $crate::routes! { @ $resource, $base, Some(&[]); $($rows)* }
    };
    ($resource:literal at $base:literal, also [$($scope:ident),*]; $($rows:tt)*) => {
        $crate::routes! { @ $resource, $base, Some(&[$(org::token::Scope::$scope),*]); $($rows)* }
    };
    ($resource:literal at $base:literal, any scope; $($rows:tt)*) => {
        $crate::routes! { @ $resource, $base, None; $($rows)* }
    };
    (@ $resource:literal, $base:literal, $also:expr;
     $($method:ident $path:literal => $handler:ident : $ability:ident $(also $token:ident)?),* $(,)?) => {
        pub(crate) static ROUTES: &[$crate::route::RouteRow] = &[$($crate::route::RouteRow {
            method: stringify!($method),
            pattern: concat!($base, $path),
            handler: stringify!($handler),
            resource: $resource,
            ability: <$ability as kernel::Ability>::NAME,
            scope: <<$ability as kernel::Ability>::Scope as kernel::access::Scope>::NAME,
            open: <$ability as kernel::Ability>::OPEN,
            allows: <$ability as kernel::Ability>::allows,
            also: $also,
            for_jobs: $crate::routes!(@for_jobs $($token)?),
            serve: |app, req, payload, matched| {
                $crate::route::run::<$ability, _, _, _, _>($handler, app, req, payload, matched)
            },
        }),*];

        pub(crate) static DESCRIPTIONS: &[$crate::route::Description] =
            &[$(|schemas| $crate::route::describe::<$ability, _, _, _, _>($handler, schemas)),*];
    };
}

/// The resources of a folder, one a line: each is a module with its `ROUTES` and their `DESCRIPTIONS`. Where modules inside
/// it have tables of their own, braces list them: `hooks { self, trials }` for the table of the module itself and that of
/// `hooks::trials`.
#[macro_export]
macro_rules! resources {
    (@table $table:ident $module:ident self) => { $module::$table };
    (@table $table:ident $module:ident $part:ident) => { $module::$part::$table };
    (@tables $table:ident $module:ident) => { &[$module::$table] };
    (@tables $table:ident $module:ident { $($part:ident),+ }) => {
        &[$($crate::resources!(@table $table $module $part)),+]
    };
    ($($module:ident $({ $($part:ident),+ })?),+ $(,)?) => {
        $(pub mod $module;)+

        /// The tables of the folder, by resource.
        pub(super) const TABLES: &[&[&[$crate::route::RouteRow]]] =
            &[$($crate::resources!(@tables ROUTES $module $({ $($part),+ })?)),+];

        /// What documents say of them, in the same order.
        pub(super) const DESCRIPTIONS: &[&[&[$crate::route::Description]]] =
            &[$($crate::resources!(@tables DESCRIPTIONS $module $({ $($part),+ })?)),+];
    };
}

/// Finds the row for a path in time that does not grow with the number of routes.
pub struct Router {
    tree: matchit::Router<Vec<&'static RouteRow>>,
}

/// The route of a method and path.
pub enum RouteMatch {
    Row(&'static RouteRow),
    /// The path exists for these methods only; with one of its rows.
    Only(Vec<&'static str>, &'static RouteRow),
    Nothing,
}

impl Router {
    /// # Panics
    /// When two rows cannot both be in the table: a mistake that every start and every test shows.
    #[expect(clippy::panic, reason = "a table with two equal rows must not serve")]
    pub fn new(tables: &[&'static [RouteRow]]) -> Self {
        let mut by_path: Vec<(String, Vec<&'static RouteRow>)> = Vec::new();
        for row in tables.iter().copied().flatten() {
            let key = positional(&row.full_pattern());
            match by_path.iter_mut().find(|(path, _)| *path == key) {
                Some((_, rows)) => rows.push(row),
                None => by_path.push((key, vec![row])),
            }
        }
        let mut tree = matchit::Router::new();
        for (path, rows) in by_path {
            if let Err(cause) = tree.insert(&path, rows) {
                panic!("the route {path} cannot be added: {cause}");
            }
        }
        Self { tree }
    }

    /// `path` is still percent-encoded, so that an encoded slash does not end a segment; one at the end says nothing.
    pub fn find(&self, method: &str, path: &str) -> RouteMatch {
        let path = match path.trim_end_matches('/') {
            "" => "/",
            path => path,
        };
        let rows = match self.tree.at(path) {
            Ok(found) => found.value,
            // A suffix that older clients add to any path.
            Err(_) => match path.strip_suffix(".json").map(|path| self.tree.at(path)) {
                Some(Ok(found)) => found.value,
                _ => return RouteMatch::Nothing,
            },
        };
        let of = |method: &str| rows.iter().find(|row| row.method == method).copied();
        match of(method).or_else(|| if method == "HEAD" { of("GET") } else { None }) {
            Some(row) => RouteMatch::Row(row),
            None => match rows.first() {
                Some(row) => RouteMatch::Only(allowed(rows), row),
                None => RouteMatch::Nothing,
            },
        }
    }
}

fn allowed(rows: &[&'static RouteRow]) -> Vec<&'static str> {
    let mut methods = vec!["OPTIONS"];
    methods.extend(rows.iter().map(|row| row.method).filter(|method| *method != "HEAD"));
    if rows.iter().any(|row| matches!(row.method, "GET" | "HEAD")) {
        methods.push("HEAD");
    }
    methods
}

/// The tree wants one name per place, and rows name the same place differently.
fn positional(pattern: &str) -> String {
    let segments =
        pattern.split('/').enumerate().map(|(position, segment)| match bare_name(segment) {
            Some(name) if name.starts_with('*') => "{*rest}".to_owned(),
            Some(_) => format!("{{p{position}}}"),
            None => segment.to_owned(),
        });
    segments.collect::<Vec<_>>().join("/")
}

impl From<Vec<&'static str>> for ApiError {
    fn from(allowed: Vec<&'static str>) -> Self {
        Self::Method(allowed)
    }
}
