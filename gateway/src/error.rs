//! Every failure as a status and a body. The only file that knows status codes of errors.

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use forge::import;
use kernel::{
    Error, FieldErrors, Ts,
    error::{Kind, Message},
};
use serde_json::{Map, Value, json};

use crate::rate_limit::Refusal;

/// Seconds after which to try again what is unavailable at the moment.
pub const SOON: &str = "5";

/// The same, while the installation is maintained.
const AFTER_MAINTENANCE: &str = "900";

pub type ApiResult<T> = Result<T, ApiError>;

/// The failure of a handler or an extractor: a meaning, or what exists in HTTP alone.
#[derive(Debug)]
pub enum ApiError {
    Kernel(Error),
    /// A token that is known and must not be used, with its text.
    Token(&'static str),
    /// A token whose scopes do not reach; the scopes that would do.
    Scope(String),
    /// The OAuth endpoints' own form.
    OAuth {
        status: StatusCode,
        code: &'static str,
        text: &'static str,
    },
    /// No such route.
    NoRoute,
    /// The route exists for other methods.
    Method(Vec<&'static str>),
    /// A body in a language that is not spoken here.
    ContentType(String),
    /// There is one already; older clients look for the text under another key.
    Taken(String),
    /// A body that arrives too slowly.
    Slow,
    /// An address of many thousand bytes.
    LongUrl,
    /// Nothing is changed for the moment; the text says why.
    Maintenance(String),
    /// More requests than one person or address may make.
    Rate(Refusal, Ts),
    /// An import from the hosted service that was not begun.
    HostImport(import::Refusal),
    /// The same from a server that people run themselves, with the name of the repository.
    ServerImport(import::Refusal, String),
    /// More imports than one person may ask for; seconds until there may be another one.
    HostImportLimit(u64),
}

impl ApiError {
    /// The seconds after which a caller may try again who tried too often.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Kernel(error) => error.retry_after(),
            _ => None,
        }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Kernel(error)
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

/// The status of a kind, and its words as clients expect them.
fn status_line(kind: Kind) -> (StatusCode, &'static str) {
    match kind {
        Kind::Unauthenticated => (StatusCode::UNAUTHORIZED, "401 Unauthorized"),
        Kind::Forbidden => (StatusCode::FORBIDDEN, "403 Forbidden"),
        Kind::NotFound => (StatusCode::NOT_FOUND, "404 Not found"),
        Kind::BadRequest => (StatusCode::BAD_REQUEST, "400 Bad request"),
        Kind::Unprocessable => (StatusCode::UNPROCESSABLE_ENTITY, "Unprocessable Entity"),
        Kind::Conflict => (StatusCode::CONFLICT, "409 Conflict"),
        Kind::GaveWay => (StatusCode::CONFLICT, "409 Conflict: Resource lock"),
        Kind::Precondition => (StatusCode::PRECONDITION_FAILED, "412 Precondition Failed"),
        Kind::NotAcceptable => (StatusCode::NOT_ACCEPTABLE, "406 Not Acceptable"),
        Kind::NotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "405 Method Not Allowed"),
        Kind::Unchanged => (StatusCode::NOT_MODIFIED, ""),
        Kind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "413 Request Entity Too Large"),
        Kind::TooMany { .. } => (
            StatusCode::TOO_MANY_REQUESTS,
            "This endpoint has been requested too many times. Try again later.",
        ),
        Kind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "503 Service Unavailable"),
        Kind::Full => (StatusCode::INSUFFICIENT_STORAGE, "507 Insufficient Storage"),
        Kind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "500 Internal Server Error"),
    }
}

/// The body with the words of the kind. The contract nests some of them one level deeper.
fn default_body(kind: Kind, words: &str) -> Value {
    match kind {
        Kind::Unchanged => Value::Null,
        Kind::Unprocessable | Kind::TooMany { .. } => json!({ "message": { "error": words } }),
        _ => json!({ "message": words }),
    }
}

fn field_map(errors: &FieldErrors) -> Map<String, Value> {
    errors.iter().map(|(field, texts)| (field.clone(), json!(texts))).collect()
}

fn of_kernel(error: &Error) -> (StatusCode, Value) {
    let (status, words) = status_line(error.kind);
    let body = match &error.message {
        Message::Default | Message::LogOnly(_) => default_body(error.kind, words),
        Message::Hidden => json!({ "message": "404 Not Found" }),
        Message::Subject(what) => json!({ "message": format!("404 {what} Not Found") }),
        Message::Reason(why) | Message::State(why) => {
            json!({ "message": format!("{words} - {why}") })
        }
        Message::Whole(text) => json!({ "message": text }),
        Message::Sentences(texts) => json!({ "message": texts }),
        Message::Fields(errors) => json!({ "message": field_map(errors) }),
        Message::Parameters(text) => json!({ "error": text }),
        Message::Limit(text) => json!({ "error": [text] }),
        Message::Coded { text, code } => json!({ "message": text, "error_code": code }),
    };
    (status, body)
}

/// What clients of imports from the hosted service look for: the key is another one than everywhere else.
fn of_host_import(refusal: &import::Refusal) -> (StatusCode, Value) {
    use import::Refusal;
    let failed = |text: &str| format!("Import failed due to a GitHub error: {text}");
    match refusal {
        Refusal::Url(why) => {
            (StatusCode::BAD_REQUEST, json!({ "errors": format!("Invalid URL: {why}") }))
        }
        Refusal::Denied => {
            (StatusCode::UNAUTHORIZED, json!({ "error": "Access denied to your GitHub account." }))
        }
        Refusal::Disabled => {
            (StatusCode::FORBIDDEN, json!({ "errors": ["import source is disabled"] }))
        }
        Refusal::Missing => {
            (StatusCode::UNPROCESSABLE_ENTITY, json!({ "errors": failed("Not Found (HTTP 404)") }))
        }
        Refusal::Namespace(text) | Refusal::Permission(text) | Refusal::Invalid(text) => {
            (StatusCode::UNPROCESSABLE_ENTITY, json!({ "errors": text }))
        }
        Refusal::RateLimited(_) => {
            (StatusCode::TOO_MANY_REQUESTS, json!({ "error": "Too Many Requests" }))
        }
        Refusal::Source(text) => {
            (StatusCode::SERVICE_UNAVAILABLE, json!({ "errors": failed(text) }))
        }
        Refusal::Other(error) => of_kernel(error),
    }
}

/// The same for servers that people run themselves: the text lies one level deeper.
fn of_server_import(refusal: &import::Refusal, source: &str) -> (StatusCode, Value) {
    use import::Refusal;
    let failed = |text: &str| format!("Import failed due to a BitBucket Server error: {text}");
    let (status, text) = match refusal {
        Refusal::Url(why) => (StatusCode::BAD_REQUEST, format!("Invalid URL: {why}")),
        Refusal::Denied => (StatusCode::BAD_REQUEST, failed("the credentials were refused")),
        Refusal::Source(text) => (StatusCode::BAD_REQUEST, failed(text)),
        Refusal::Permission(_) => (
            StatusCode::UNAUTHORIZED,
            "You don't have permissions to import this project".to_owned(),
        ),
        Refusal::Disabled => (StatusCode::FORBIDDEN, "import source is disabled".to_owned()),
        Refusal::Missing => {
            (StatusCode::UNPROCESSABLE_ENTITY, format!("Project {source} could not be found"))
        }
        Refusal::Namespace(text) | Refusal::Invalid(text) => {
            (StatusCode::UNPROCESSABLE_ENTITY, text.clone())
        }
        Refusal::RateLimited(_) => (StatusCode::TOO_MANY_REQUESTS, "Too Many Requests".to_owned()),
        Refusal::Other(error) => return of_kernel(error),
    };
    (status, json!({ "message": { "error": text } }))
}

impl ApiError {
    fn parts(&self) -> (StatusCode, Value) {
        match self {
            Self::Kernel(error) => of_kernel(error),
            Self::Token(text) => (
                StatusCode::UNAUTHORIZED,
                json!({ "error": "invalid_token", "error_description": text }),
            ),
            Self::Scope(scope) => {
                let text =
                    "The request requires higher privileges than provided by the access token.";
                let body = json!({ "error": "insufficient_scope", "error_description": text, "scope": scope });
                (StatusCode::FORBIDDEN, body)
            }
            Self::OAuth { status, code, text } => {
                (*status, json!({ "error": code, "error_description": text }))
            }
            Self::NoRoute => (StatusCode::NOT_FOUND, json!({ "error": "404 Not Found" })),
            Self::Method(_) => {
                (StatusCode::METHOD_NOT_ALLOWED, json!({ "error": "405 Not Allowed" }))
            }
            Self::ContentType(given) => {
                let text = format!("The provided content-type '{given}' is not supported.");
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, json!({ "error": text }))
            }
            Self::Taken(text) => {
                (StatusCode::UNPROCESSABLE_ENTITY, json!({ "message": text, "error": text }))
            }
            Self::Slow => {
                (StatusCode::REQUEST_TIMEOUT, json!({ "message": "408 Request Timeout" }))
            }
            Self::LongUrl => (StatusCode::URI_TOO_LONG, json!({ "error": "414 URI Too Long" })),
            Self::Maintenance(text) => {
                (StatusCode::SERVICE_UNAVAILABLE, json!({ "message": text }))
            }
            Self::Rate(..) => (StatusCode::TOO_MANY_REQUESTS, Value::Null),
            Self::HostImport(refusal) => of_host_import(refusal),
            Self::ServerImport(refusal, source) => of_server_import(refusal, source),
            Self::HostImportLimit(_) => {
                let (status, words) = status_line(Kind::TooMany { retry_after: 0 });
                (status, json!({ "errors": words }))
            }
        }
    }
}

/// Logs what is not the caller's fault.
fn log(error: &Error) {
    match error.cause() {
        Some(cause) if error.is_of_machine() => tracing::error!(%cause, "{error}"),
        Some(cause) => tracing::error!(error = %cause, details = ?cause, "request failed"),
        None => {}
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.parts().0
    }

    fn error_response(&self) -> HttpResponse {
        if let Self::Kernel(error) = self {
            log(error);
        }
        if let Self::Rate(refusal, now) = self {
            return refusal.response(*now);
        }
        let (status, body) = self.parts();
        let mut response = HttpResponse::build(status);
        match self {
            Self::Maintenance(_) => {
                response.insert_header((header::RETRY_AFTER, AFTER_MAINTENANCE));
            }
            Self::Token(text) => {
                let realm = format!(
                    "Bearer realm=\"The API\", error=\"invalid_token\", error_description=\"{text}\""
                );
                response.insert_header((header::WWW_AUTHENTICATE, realm));
            }
            Self::Method(allowed) => {
                response.insert_header((header::ALLOW, allowed.join(", ")));
            }
            Self::HostImportLimit(seconds) => {
                response.insert_header((header::RETRY_AFTER, seconds.to_string()));
            }
            Self::HostImport(import::Refusal::RateLimited(seconds))
            | Self::ServerImport(import::Refusal::RateLimited(seconds), _) => {
                response.insert_header((header::RETRY_AFTER, seconds.to_string()));
            }
            Self::Kernel(error) if error.kind == Kind::Unavailable => {
                response.insert_header((header::RETRY_AFTER, SOON));
            }
            Self::Kernel(error) => {
                if let Some(seconds) = error.retry_after() {
                    response.insert_header((header::RETRY_AFTER, seconds.to_string()));
                }
            }
            _ => {}
        }
        if body.is_null() { response.finish() } else { response.json(body) }
    }
}

#[cfg(test)]
mod tests;
