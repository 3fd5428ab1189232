//! `/api/graphql`: queries as JSON, forms, parameters of the URL or multipart forms with files, one or many at a time.
//!
//! Callers show a token, or the session of a browser together with `X-CSRF-Token`, or are nobody. A page of another site
//! does not know that value, so that it cannot make a browser act for the person before it.

use actix_web::{
    HttpRequest, HttpResponse, ResponseError as _,
    dev::Payload,
    http::{Method, StatusCode},
};
use forge::slots::SlotOwner;
use kernel::{Ability, Error, access::Anyone};
use resolvers::schema;
use serde_json::json;

use super::{
    answers::{graphql_error, refusal, refused, respond, unprocessable},
    browser_session::caller_of,
    context_of,
    request_body::{Queries, RequestBody, read},
    request_limits::{is_without_deprecated, limits_of, may_query},
    subscriptions::{answer_events, answer_socket, is_upgrade, wants_events},
};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Caller, RawMap, count, params::ParamDoc, raw_pairs},
    openapi::{AnswerDoc, Operation, Schemas},
    route::{Description, MatchedRoute, RouteRow, answered},
};

pub(crate) static ROUTES: &[RouteRow] = &[row("GET"), row("POST")];
pub(crate) static DESCRIPTIONS: &[Description] = &[describe, describe];

const fn row(method: &'static str) -> RouteRow {
    RouteRow {
        method,
        pattern: "//api/graphql",
        handler: "answer",
        resource: "GraphQL",
        ability: <Anyone as Ability>::NAME,
        scope: <<Anyone as Ability>::Scope as kernel::access::Scope>::NAME,
        open: <Anyone as Ability>::OPEN,
        allows: <Anyone as Ability>::allows,
        // Which scopes suffice depends on the query.
        also: None,
        for_jobs: false,
        serve: |app, req, payload, route| Box::pin(serve(app, req, payload, route)),
    }
}

fn describe(_: &mut Schemas) -> Operation {
    let errors = json!({ "type": "array", "items": { "type": "object" } });
    let answer = json!({
        "type": "object",
        "properties": { "data": { "type": ["object", "null"] }, "errors": errors },
    });
    Operation {
        params: parameters(),
        paged: false,
        keyset: false,
        answer: AnswerDoc::json(200, answer),
    }
}

fn parameters() -> Vec<ParamDoc> {
    let text = |name, required, text: &str| ParamDoc {
        name,
        required,
        schema: json!({ "type": "string" }),
        text: text.to_owned(),
    };
    vec![
        text("query", true, "The query, at most 10,000 characters."),
        text("variables", false, "The values of the query's variables: an object, or its text."),
        text("operationName", false, "Which operation to execute, where the query has several."),
        text(
            "remove_deprecated",
            false,
            "Whether deprecated members count as absent: `true` in the URL.",
        ),
    ]
}

async fn serve(app: App, req: HttpRequest, payload: Payload, route: MatchedRoute) -> HttpResponse {
    if is_upgrade(&req) {
        return match schema() {
            Some(schema) => answer_socket(app, &req, payload, route, schema).await,
            None => unusable().error_response(),
        };
    }
    let taken = match take(&app, &req, payload, &route).await {
        Ok(taken) => taken,
        Err(refusal) => return refusal,
    };
    if wants_events(&req) {
        return match (schema(), taken.queries) {
            (Some(schema), Queries::One(query)) => {
                answer_events(app, req, route, taken.shown, query, schema).await
            }
            (Some(_), Queries::Many(_)) => unprocessable("Events answer one query at a time"),
            (None, _) => unusable().error_response(),
        };
    }
    let who = match (taken.caller.actor().id, app.proxies.client(&req)) {
        (Some(user), _) => SlotOwner::User(user),
        (None, address) => SlotOwner::Address(address),
    };
    let work = execute(app.clone(), taken, req.method().is_safe());
    answered(&app, &req, who, Box::pin(work)).await
}

/// A request that was read.
struct GraphqlRequest {
    caller: Caller,
    /// Where a token may be beside the headers.
    shown: RawMap,
    queries: Queries,
    /// Whether deprecated members count as absent.
    without_deprecated: bool,
}

async fn execute(app: App, taken: GraphqlRequest, is_safe: bool) -> ApiResult<HttpResponse> {
    let Some(schema) = schema() else { return Err(unusable()) };
    let GraphqlRequest { caller, queries, without_deprecated, .. } = taken;
    let limits = limits_of(&app, &caller, is_safe, without_deprecated);
    let context = context_of(&app, &caller);
    let response = match queries {
        Queries::One(query) => schema.execute(query, context, limits).await,
        Queries::Many(queries) => schema.execute_batch(queries, context, limits).await,
    };
    Ok(respond(&response))
}

fn unusable() -> ApiError {
    Error::internal("the GraphQL schema does not fit its resolvers").into()
}

/// Reads a request: who makes it, and what it asks.
async fn take(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    route: &MatchedRoute,
) -> Result<GraphqlRequest, HttpResponse> {
    let url = raw_pairs(req.query_string().as_bytes());
    let mut caller = known(app, req, &url, route).await?;
    let limits = match caller.user {
        Some(_) => app.limits,
        None => app.limits.for_strangers(),
    };
    let mut given = RequestBody::of_pairs(&url);
    let mut shown = url.clone();
    if req.method() == Method::POST {
        let body = read(req, payload, limits).await?;
        if caller.user.is_none() && caller.application.is_none() {
            let in_body = body.credentials();
            caller = known(app, req, &in_body, route).await?;
            shown = in_body;
        }
        given = given.with(body);
    }
    let within = count(app, req, route, caller.user.as_deref());
    within.map_err(|failure| graphql_error(&failure))?;
    if !may_query(&caller) {
        return Err(refusal(StatusCode::UNAUTHORIZED, "Invalid token"));
    }
    let without_deprecated = is_without_deprecated(&url);
    Ok(GraphqlRequest { caller, shown, queries: given.queries()?, without_deprecated })
}

/// Who makes the request; nobody is also an answer.
async fn known(
    app: &App,
    req: &HttpRequest,
    given: &RawMap,
    route: &MatchedRoute,
) -> Result<Caller, HttpResponse> {
    let failure = match caller_of(app, req, given, route).await {
        Ok(caller) => return Ok(caller),
        Err(failure) => failure,
    };
    // Guesses at credentials count for the address.
    if let Err(failure) = count(app, req, route, None) {
        return Err(graphql_error(&failure));
    }
    Err(refused(&failure))
}
