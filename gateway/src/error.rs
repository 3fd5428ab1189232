//! Every failure as a status and a body. The only file that knows status codes of errors.

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use kernel::{Error, FieldErrors, Ts};
use serde_json::{Map, Value, json};

use crate::rate_limit::Refusal;

/// After so many seconds it is worth to ask again for what is out of reach.
pub const SOON: &str = "5";

pub type ApiResult<T> = Result<T, ApiError>;

/// What a handler or the extractor may fail with.
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
    /// A way to page that this list does not offer.
    Keyset(String),
    /// A body in a language that is not spoken here.
    ContentType(String),
    /// A page of another site asks, for something that is not to be shown inside of pages.
    NotAcceptable,
    /// Not found, in plain capital words without a kind.
    Nothing,
    /// There is one already; older clients look for the text under another key.
    Taken(String),
    /// What was asked for is switched off; the text stands under the key that is otherwise for parameters.
    NotTaken(String),
    /// As [`Nothing`](Self::Nothing), in the words of some older endpoints.
    Absent,
    /// The namespace of a project that is to become a fork is not the caller's to fill.
    NoTarget,
    /// The person to act as, by `sudo`, is unknown.
    NoUser(String),
    /// A token of a project or group that is not there, by the word for what it would be a token of.
    NoToken(&'static str, i64),
    /// A body that arrives too slowly.
    Slow,
    /// An address of many thousand bytes.
    LongUrl,
    /// What was named to put something beside is not there.
    Unplaced,
    /// The same has been asked for already, and is being done; the sentence says so.
    Underway(&'static str),
    /// More requests than one person or address may make.
    Rate(Refusal, Ts),
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

fn fields(errors: &FieldErrors) -> Value {
    let mut map = Map::new();
    for (field, texts) in errors {
        map.insert(field.clone(), json!(texts));
    }
    map.into()
}

/// The helper form: `404 Project Not Found`.
fn told(status: StatusCode, text: impl AsRef<str>) -> (StatusCode, Value) {
    (status, json!({ "message": text.as_ref() }))
}

fn of_kernel(error: &Error) -> (StatusCode, Value) {
    match error {
        Error::Unauthenticated => told(StatusCode::UNAUTHORIZED, "401 Unauthorized"),
        Error::NotFound(what) => told(StatusCode::NOT_FOUND, format!("404 {what} Not Found")),
        Error::Missing => told(StatusCode::NOT_FOUND, "404 Not found"),
        Error::NotThere(text) => told(StatusCode::NOT_FOUND, text),
        Error::Hidden => told(StatusCode::NOT_FOUND, "404 Not Found"),
        Error::Forbidden => told(StatusCode::FORBIDDEN, "403 Forbidden"),
        Error::Refused(why) => told(StatusCode::FORBIDDEN, format!("403 Forbidden - {why}")),
        Error::Denied(text) => told(StatusCode::FORBIDDEN, text),
        Error::LimitReached(text) => (StatusCode::FORBIDDEN, json!({ "error": [text] })),
        Error::BadParameters(text) => (StatusCode::BAD_REQUEST, json!({ "error": text })),
        Error::BadRequest(why) if why.is_empty() => {
            told(StatusCode::BAD_REQUEST, "400 Bad request")
        }
        Error::BadRequest(why) => told(StatusCode::BAD_REQUEST, format!("400 Bad request - {why}")),
        Error::Rejected(text) => told(StatusCode::BAD_REQUEST, text),
        Error::NotApplied { message, code } => {
            (StatusCode::BAD_REQUEST, json!({ "message": message, "error_code": code }))
        }
        Error::Invalid(errors) => (StatusCode::BAD_REQUEST, json!({ "message": fields(errors) })),
        Error::Unprocessable(texts) => {
            (StatusCode::UNPROCESSABLE_ENTITY, json!({ "message": texts }))
        }
        Error::Unfit(text) => told(StatusCode::UNPROCESSABLE_ENTITY, text),
        Error::Conflict(text) => told(StatusCode::CONFLICT, text),
        Error::ConflictWith(texts) => (StatusCode::CONFLICT, json!({ "message": texts })),
        Error::ConflictOn(errors) => (StatusCode::CONFLICT, json!({ "message": fields(errors) })),
        Error::GaveWay => told(StatusCode::CONFLICT, "409 Conflict: Resource lock"),
        Error::Precondition => told(StatusCode::PRECONDITION_FAILED, "412 Precondition Failed"),
        Error::NotAcceptable(text) => told(StatusCode::NOT_ACCEPTABLE, text),
        Error::NotAllowed(text) => told(StatusCode::METHOD_NOT_ALLOWED, text),
        Error::Unchanged => (StatusCode::NOT_MODIFIED, Value::Null),
        Error::TooLarge(_) => told(StatusCode::PAYLOAD_TOO_LARGE, "413 Request Entity Too Large"),
        Error::TooMany { .. } => (
            StatusCode::TOO_MANY_REQUESTS,
            json!({ "message": { "error": "This endpoint has been requested too many times. Try again later." } }),
        ),
        Error::Unavailable(_) | Error::OutOfReach(_) => {
            told(StatusCode::SERVICE_UNAVAILABLE, "503 Service Unavailable")
        }
        Error::Full(_) => told(StatusCode::INSUFFICIENT_STORAGE, "507 Insufficient Storage"),
        Error::Internal(_) => told(StatusCode::INTERNAL_SERVER_ERROR, "500 Internal Server Error"),
    }
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
            Self::Keyset(text) => (StatusCode::METHOD_NOT_ALLOWED, json!({ "error": text })),
            Self::ContentType(given) => {
                let text = format!("The provided content-type '{given}' is not supported.");
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, json!({ "error": text }))
            }
            Self::NotAcceptable => told(StatusCode::NOT_ACCEPTABLE, "406 Not Acceptable"),
            Self::Taken(text) => {
                (StatusCode::UNPROCESSABLE_ENTITY, json!({ "message": text, "error": text }))
            }
            Self::NotTaken(text) => (StatusCode::UNPROCESSABLE_ENTITY, json!({ "error": text })),
            Self::Nothing => told(StatusCode::NOT_FOUND, "404 Not Found"),
            Self::Unplaced => (
                StatusCode::UNPROCESSABLE_ENTITY,
                json!({ "message": { "error": "Unprocessable Entity" } }),
            ),
            Self::Slow => told(StatusCode::REQUEST_TIMEOUT, "408 Request Timeout"),
            Self::LongUrl => (StatusCode::URI_TOO_LONG, json!({ "error": "414 URI Too Long" })),
            Self::Underway(text) => told(StatusCode::TOO_MANY_REQUESTS, text),
            Self::Rate(..) => (StatusCode::TOO_MANY_REQUESTS, Value::Null),
            Self::NoTarget => told(StatusCode::UNAUTHORIZED, "401 Unauthorized - Target Namespace"),
            Self::Absent => told(StatusCode::NOT_FOUND, "Not Found"),
            Self::NoToken(word, id) => told(
                StatusCode::NOT_FOUND,
                format!("404 Could not find {word} access token with token_id: {id} Not Found"),
            ),
            Self::NoUser(given) => told(
                StatusCode::NOT_FOUND,
                format!("404 User with ID or username '{given}' Not Found"),
            ),
        }
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.parts().0
    }

    fn error_response(&self) -> HttpResponse {
        match self {
            Self::Kernel(Error::Internal(cause)) => {
                tracing::error!(error = %cause, details = ?cause, "request failed");
            }
            Self::Kernel(refusal @ (Error::OutOfReach(cause) | Error::Full(cause))) => {
                tracing::error!(%cause, "{refusal}");
            }
            _ => {}
        }
        if let Self::Rate(refusal, now) = self {
            return refusal.response(*now);
        }
        let (status, body) = self.parts();
        let mut response = HttpResponse::build(status);
        match self {
            Self::Token(text) => {
                let realm = format!(
                    "Bearer realm=\"The API\", error=\"invalid_token\", error_description=\"{text}\""
                );
                response.insert_header((header::WWW_AUTHENTICATE, realm));
            }
            Self::Method(allowed) => {
                response.insert_header((header::ALLOW, allowed.join(", ")));
            }
            Self::Kernel(Error::Unavailable(_) | Error::OutOfReach(_)) => {
                response.insert_header((header::RETRY_AFTER, SOON));
            }
            Self::Underway(_) => {
                response.insert_header((header::RETRY_AFTER, "60"));
            }
            Self::Kernel(Error::TooMany { retry_after }) => {
                response.insert_header((header::RETRY_AFTER, retry_after.to_string()));
            }
            _ => {}
        }
        if body.is_null() { response.finish() } else { response.json(body) }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::ResponseError;
    use kernel::Error;

    use super::ApiError;

    #[test]
    fn faults_of_the_machine_are_told_apart() {
        let told = [28, 122, 24, 23, 36, 5].map(|code| {
            let failure = ApiError::from(Error::internal(std::io::Error::from_raw_os_error(code)));
            let response = failure.error_response();
            let later = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
            (response.status().as_u16(), later.map(str::to_owned))
        });
        let soon = Some("5".to_owned());
        let wanted =
            [(507, None), (507, None), (503, soon.clone()), (503, soon), (400, None), (500, None)];
        assert_eq!(told, wanted);
    }
}
