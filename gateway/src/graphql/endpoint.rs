//! `/api/graphql`: queries as JSON, forms, parameters of the URL or multipart forms with files, one or many at a time.
//!
//! Callers show a token, or the session of a browser together with `X-CSRF-Token`, or are nobody. A page of another site
//! does not know that value, so that it cannot make a browser act for the person before it.

#![expect(clippy::result_large_err, reason = "a refusal ends its request and is moved once")]

use std::{collections::HashMap, sync::Arc};

use actix_multipart::Multipart;
use actix_web::{
    HttpRequest, HttpResponse, ResponseError as _,
    dev::Payload,
    http::{Method, StatusCode, header},
    web::BytesMut,
};
use forge::slots::SlotOwner;
use futures_util::{StreamExt as _, TryStreamExt as _};
use graphql::{Outcome, Request, Response, Upload};
use kernel::{Ability, Error, access::Anyone, error::Kind};
use org::token::Scope;
use serde_json::{Map, Value, json};

use super::{
    browser_session::caller_of,
    context::Context,
    request_limits::limits_of,
    schema,
    subscriptions::{answer_events, answer_socket, is_upgrade, wants_events},
};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Caller, RawMap, SlowClientGuard, count, params::ParamDoc, raw_pairs},
    openapi::{AnswerDoc, Operation, Schemas},
    route::{MatchedRoute, RouteRow, answered},
};

/// How many queries a request may bring.
const MOST_QUERIES: usize = 100;
/// How many parts a multipart form may have.
const MOST_PARTS: usize = 100;

pub(crate) static ROUTES: &[RouteRow] = &[row("GET"), row("POST")];

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
        describe,
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

/// What a request asks.
enum Queries {
    One(Request),
    Many(Vec<Request>),
}

async fn execute(app: App, taken: GraphqlRequest, is_safe: bool) -> ApiResult<HttpResponse> {
    let Some(schema) = schema() else { return Err(unusable()) };
    let GraphqlRequest { caller, queries, without_deprecated, .. } = taken;
    let limits = limits_of(&app, &caller, is_safe, without_deprecated);
    let context = Arc::new(Context::new(app, caller));
    let response = match queries {
        Queries::One(query) => schema.execute(query, context, limits).await,
        Queries::Many(queries) => schema.execute_batch(queries, context, limits).await,
    };
    Ok(respond(&response))
}

fn unusable() -> ApiError {
    Error::internal("the GraphQL schema does not fit its resolvers").into()
}

fn respond(response: &Response) -> HttpResponse {
    let status = match response.outcome {
        Outcome::Answered => StatusCode::OK,
        Outcome::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        Outcome::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Outcome::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
        Outcome::Failed => StatusCode::INTERNAL_SERVER_ERROR,
    };
    json_answer(status, &response.body)
}

fn json_answer(status: StatusCode, body: &Value) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("application/json; charset=utf-8")
        .body(body.to_string())
}

fn refusal(status: StatusCode, message: &str) -> HttpResponse {
    json_answer(status, &json!({ "errors": [{ "message": message }] }))
}

fn unprocessable(message: &str) -> HttpResponse {
    refusal(StatusCode::UNPROCESSABLE_ENTITY, message)
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
        if caller.user.is_none() {
            let in_body = body.credentials();
            caller = known(app, req, &in_body, route).await?;
            shown = in_body;
        }
        given = given.with(body);
    }
    let within = count(app, req, route, caller.user.as_deref());
    within.map_err(|failure| actix_web::ResponseError::error_response(&failure))?;
    let reads = |token: &org::token::AccessToken| {
        let scopes = token.scopes();
        scopes.has(Scope::Api) || scopes.has(Scope::ReadApi)
    };
    if !caller.token.as_deref().is_none_or(reads) {
        return Err(refusal(StatusCode::UNAUTHORIZED, "Invalid token"));
    }
    let flag = url.text("remove_deprecated");
    let without_deprecated = matches!(flag, Some("true" | "1"));
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
        return Err(actix_web::ResponseError::error_response(&failure));
    }
    Err(match failure {
        ApiError::Kernel(Error { kind: Kind::Unauthenticated, .. })
        | ApiError::Token(_)
        | ApiError::OAuth { .. } => refusal(StatusCode::UNAUTHORIZED, "Invalid token"),
        ApiError::Kernel(Error { kind: Kind::Forbidden | Kind::NotFound, .. })
        | ApiError::Scope(_) => refusal(StatusCode::FORBIDDEN, "API not accessible for user"),
        other => actix_web::ResponseError::error_response(&other),
    })
}

/// What came with a request, before it is known whether it makes sense.
#[derive(Default)]
struct RequestBody {
    body: Value,
    uploads: HashMap<String, Arc<Upload>>,
}

impl RequestBody {
    fn of_pairs(pairs: &RawMap) -> Self {
        let fields = ["query", "operationName", "variables", "private_token", "access_token"];
        let fields = fields
            .into_iter()
            .filter_map(|name| pairs.text(name).map(|text| (name.to_owned(), Value::from(text))));
        Self { body: Value::Object(Map::from_iter(fields)), uploads: HashMap::new() }
    }

    /// What also came in the body, which counts more.
    fn with(self, body: Self) -> Self {
        match (self.body, body.body) {
            (Value::Object(mut url), Value::Object(body_fields)) => {
                url.extend(body_fields);
                Self { body: Value::Object(url), uploads: body.uploads }
            }
            (url, Value::Null) => Self { body: url, uploads: body.uploads },
            (_, many) => Self { body: many, uploads: body.uploads },
        }
    }

    /// The tokens in the body.
    fn credentials(&self) -> RawMap {
        let mut found = RawMap::default();
        for name in ["private_token", "access_token"] {
            if let Some(token) = self.body[name].as_str() {
                found.set(name, token.to_owned().into());
            }
        }
        found
    }

    fn queries(self) -> Result<Queries, HttpResponse> {
        match self.body {
            Value::Array(queries) if queries.len() > MOST_QUERIES => {
                Err(unprocessable("There are too many queries"))
            }
            Value::Array(queries) => {
                let uploads = &self.uploads;
                let queries = queries.iter().enumerate();
                let queries = queries.map(|(place, query)| {
                    // Paths begin with the query's place in the list.
                    request(query, uploads_below(uploads, &format!("{place}.variables.")))
                });
                queries.collect::<Result<_, _>>().map(Queries::Many)
            }
            body => {
                let uploads = uploads_below(&self.uploads, "variables.");
                request(&body, uploads).map(Queries::One)
            }
        }
    }
}

fn uploads_below(
    uploads: &HashMap<String, Arc<Upload>>,
    start: &str,
) -> HashMap<String, Arc<Upload>> {
    let below = uploads.iter().filter_map(|(path, upload)| {
        path.strip_prefix(start).map(|path| (path.to_owned(), upload.clone()))
    });
    below.collect()
}

fn request(given: &Value, uploads: HashMap<String, Arc<Upload>>) -> Result<Request, HttpResponse> {
    let text = |name: &str| given[name].as_str().map(str::to_owned);
    let parsed;
    let variables = match &given["variables"] {
        Value::String(text) if text.trim().is_empty() => &Value::Null,
        Value::String(text) => {
            parsed = serde_json::from_str::<Value>(text)
                .map_err(|cause| unprocessable(&format!("Invalid variables: {cause}")))?;
            &parsed
        }
        other => other,
    };
    if !matches!(variables, Value::Object(_) | Value::Null) {
        return Err(unprocessable(&format!("Unexpected parameter: {variables}")));
    }
    Ok(Request {
        query: text("query").unwrap_or_default(),
        operation_name: text("operationName"),
        variables: variables.clone(),
        uploads,
    })
}

/// Reads a body in one of the languages that are spoken here.
async fn read(
    req: &HttpRequest,
    payload: Payload,
    limits: crate::limits::Limits,
) -> Result<RequestBody, HttpResponse> {
    let kind = req.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let payload = SlowClientGuard::new(payload, limits.patience);
    if kind == "multipart/form-data" {
        return multipart(Multipart::new(req.headers(), payload), limits.body).await;
    }
    let text = bytes(payload, limits.body).await?;
    match kind.as_str() {
        _ if text.is_empty() => Ok(RequestBody::default()),
        "application/json" | "" => {
            let body = serde_json::from_slice(&text).map_err(|cause| {
                refusal(StatusCode::BAD_REQUEST, &format!("Invalid JSON: {cause}"))
            })?;
            Ok(RequestBody { body, uploads: HashMap::new() })
        }
        "application/graphql" => {
            let query = String::from_utf8_lossy(&text);
            Ok(RequestBody { body: json!({ "query": query }), uploads: HashMap::new() })
        }
        "application/x-www-form-urlencoded" => Ok(RequestBody::of_pairs(&raw_pairs(&text))),
        other => Err(refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            &format!("The provided content-type '{other}' is not supported."),
        )),
    }
}

async fn bytes(mut payload: SlowClientGuard, most: usize) -> Result<BytesMut, HttpResponse> {
    let mut text = BytesMut::new();
    while let Some(piece) = payload.next().await {
        let piece =
            piece.map_err(|_cut_off| refusal(StatusCode::REQUEST_TIMEOUT, "Request Timeout"))?;
        if text.len() + piece.len() > most {
            return Err(too_large());
        }
        text.extend_from_slice(&piece);
    }
    Ok(text)
}

fn too_large() -> HttpResponse {
    refusal(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large")
}

/// Reads a form with files: `operations` is what JSON requests have as their body, and `map` says for which variables
/// the files stand.
async fn multipart(mut parts: Multipart, most: usize) -> Result<RequestBody, HttpResponse> {
    let unreadable = |_| refusal(StatusCode::BAD_REQUEST, "The multipart body cannot be read");
    let (mut left, mut fields, mut files) = (most, HashMap::new(), HashMap::new());
    let mut parts_taken = 0;
    while let Some(mut part) = parts.try_next().await.map_err(unreadable)? {
        // Parts of one name replace one another, but each is read.
        if parts_taken == MOST_PARTS {
            return Err(too_large());
        }
        parts_taken += 1;
        let disposition = part.content_disposition().cloned();
        let disposition = disposition.as_ref();
        let name = disposition.and_then(|given| given.get_name()).unwrap_or_default().to_owned();
        let file = disposition.and_then(|given| given.get_filename()).map(str::to_owned);
        let content_type = part.content_type().map(ToString::to_string);
        let mut content = BytesMut::new();
        while let Some(piece) = part.try_next().await.map_err(unreadable)? {
            left = left.checked_sub(piece.len()).ok_or_else(too_large)?;
            content.extend_from_slice(&piece);
        }
        match file {
            None => {
                fields.insert(name, content);
            }
            Some(file) => {
                let upload = Upload {
                    name: file,
                    content_type: content_type.unwrap_or_default(),
                    content: content.freeze(),
                };
                files.insert(name, Arc::new(upload));
            }
        }
    }
    let Some(operations) = fields.get("operations") else {
        let texts = fields.iter().map(|(name, text)| {
            (name.clone(), Value::from(String::from_utf8_lossy(text).into_owned()))
        });
        return Ok(RequestBody { body: Value::Object(texts.collect()), uploads: HashMap::new() });
    };
    let invalid =
        |what: &str| refusal(StatusCode::BAD_REQUEST, &format!("Invalid JSON in '{what}'"));
    let body = serde_json::from_slice(operations).map_err(|_cause| invalid("operations"))?;
    let map = fields.get("map").map_or(Ok(HashMap::new()), |map| {
        serde_json::from_slice::<HashMap<String, Vec<String>>>(map).map_err(|_cause| invalid("map"))
    })?;
    let mut uploads = HashMap::new();
    for (name, paths) in map {
        let upload = files.get(&name).ok_or_else(|| unprocessable("A file of 'map' is missing"))?;
        uploads.extend(paths.into_iter().map(|path| (path, upload.clone())));
    }
    Ok(RequestBody { body, uploads })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Value, json};

    use super::{Queries, RequestBody, request};

    fn variables(given: &Value) -> Result<Value, u16> {
        let given = json!({ "query": "{ a }", "variables": given });
        let read = request(&given, HashMap::new());
        read.map(|read| read.variables).map_err(|refusal| refusal.status().as_u16())
    }

    #[test]
    fn variables_are_an_object_or_its_text() {
        assert_eq!(variables(&json!({ "a": 1 })), Ok(json!({ "a": 1 })));
        assert_eq!(variables(&json!("{\"a\": 1}")), Ok(json!({ "a": 1 })));
        assert_eq!(variables(&json!("")), Ok(Value::Null));
        assert_eq!(variables(&Value::Null), Ok(Value::Null));
    }

    #[test]
    fn other_variables_are_refused() {
        for odd in [json!(5), json!([1]), json!("["), json!("5"), json!(true)] {
            assert_eq!(variables(&odd), Err(422));
        }
    }

    #[test]
    fn a_list_is_many_queries() {
        let body = json!([{ "query": "{ a }" }, { "query": "{ b }" }]);
        let given = RequestBody { body, uploads: HashMap::new() };
        assert!(matches!(given.queries(), Ok(Queries::Many(many)) if many.len() == 2));
    }
}
