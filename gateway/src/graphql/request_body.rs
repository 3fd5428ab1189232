//! The body of a request to `/api/graphql`: JSON, forms, or multipart forms with files, with one query or many.

#![expect(clippy::result_large_err, reason = "a refusal ends its request and is moved once")]

use std::{collections::HashMap, sync::Arc};

use actix_multipart::{Multipart, MultipartError};
use actix_web::{
    HttpRequest, HttpResponse,
    dev::Payload,
    error::PayloadError,
    http::{StatusCode, header},
    web::BytesMut,
};
use forge::memory;
use futures_util::{StreamExt as _, TryStreamExt as _};
use graphql::{Request, Upload};
use serde_json::{Map, Value, json};

use super::answers::{graphql_error, refusal, unprocessable};
use crate::{
    extract::{RawMap, SlowClientGuard, raw_pairs},
    limits::Limits,
};

/// How many queries a request may bring.
const MOST_QUERIES: usize = 100;
/// How many parts a multipart form may have.
const MOST_PARTS: usize = 100;
/// How many values a JSON body may have, each of which takes many times its length once it is read.
const MOST_VALUES: usize = 500_000;

/// The queries of a request: one or a batch.
pub(super) enum Queries {
    One(Request),
    Many(Vec<Request>),
}

/// The body of a request before validation.
#[derive(Default)]
pub(super) struct RequestBody {
    body: Value,
    uploads: HashMap<String, Arc<Upload>>,
}

impl RequestBody {
    pub(super) fn of_pairs(pairs: &RawMap) -> Self {
        let fields = ["query", "operationName", "variables", "private_token", "access_token"];
        let fields = fields
            .into_iter()
            .filter_map(|name| pairs.text(name).map(|text| (name.to_owned(), Value::from(text))));
        Self { body: Value::Object(Map::from_iter(fields)), uploads: HashMap::new() }
    }

    /// What also came in the body, which counts more.
    pub(super) fn with(self, body: Self) -> Self {
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
    pub(super) fn credentials(&self) -> RawMap {
        let mut found = RawMap::default();
        for name in ["private_token", "access_token"] {
            if let Some(token) = self.body[name].as_str() {
                found.set(name, token.to_owned().into());
            }
        }
        found
    }

    pub(super) fn queries(self) -> Result<Queries, HttpResponse> {
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
pub(super) async fn read(
    req: &HttpRequest,
    payload: Payload,
    limits: Limits,
) -> Result<RequestBody, HttpResponse> {
    let kind = req.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    memory::ensure_some().map_err(|failure| graphql_error(&failure.into()))?;
    let payload = SlowClientGuard::new(req, payload, limits.patience);
    if kind == "multipart/form-data" {
        return multipart(Multipart::new(req.headers(), payload), limits.body).await;
    }
    let text = bytes(payload, limits.body).await?;
    match kind.as_str() {
        _ if text.is_empty() => Ok(RequestBody::default()),
        "application/json" | "" if values(&text) > MOST_VALUES => Err(too_large()),
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
        let piece = piece.map_err(|_cut_off| timed_out())?;
        if text.len() + piece.len() > most {
            return Err(too_large());
        }
        text.extend_from_slice(&piece);
    }
    Ok(text)
}

/// At most so many values are in a JSON text: each begins a list or an object, or follows a comma.
fn values(text: &[u8]) -> usize {
    text.iter().filter(|byte| matches!(byte, b'[' | b'{' | b',')).count()
}

fn timed_out() -> HttpResponse {
    refusal(StatusCode::REQUEST_TIMEOUT, "Request Timeout")
}

fn too_large() -> HttpResponse {
    refusal(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large")
}

/// Reads a form with files: `operations` is what JSON requests have as their body, and `map` says for which variables
/// the files stand.
async fn multipart(mut parts: Multipart, most: usize) -> Result<RequestBody, HttpResponse> {
    let unreadable = |cause| match cause {
        MultipartError::Payload(PayloadError::Io(_)) => timed_out(),
        _ => refusal(StatusCode::BAD_REQUEST, "The multipart body cannot be read"),
    };
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
    if values(operations) > MOST_VALUES {
        return Err(too_large());
    }
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
