//! Answers of `/api/graphql`: their statuses, and failures of a request as a whole in the form of GraphQL.

use actix_web::{
    HttpResponse, ResponseError as _,
    body::BoxBody,
    http::{StatusCode, header},
};
use graphql::{Outcome, Response};
use kernel::error::Kind;
use serde_json::{Value, json};

use crate::error::ApiError;

fn json_answer(status: StatusCode, body: &Value) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("application/json; charset=utf-8")
        .body(body.to_string())
}

pub(super) fn refusal(status: StatusCode, message: &str) -> HttpResponse {
    json_answer(status, &json!({ "errors": [{ "message": message }] }))
}

/// An answer with the status that its outcome has.
pub(super) fn respond(response: &Response) -> HttpResponse {
    let status = match response.outcome {
        Outcome::Answered => StatusCode::OK,
        Outcome::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        Outcome::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Outcome::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
        Outcome::Failed => StatusCode::INTERNAL_SERVER_ERROR,
    };
    json_answer(status, &response.body)
}

/// Why a credential was refused.
pub(super) fn refused(failure: &ApiError) -> HttpResponse {
    let kind = match failure {
        ApiError::Kernel(error) => error.kind,
        ApiError::Token(_) | ApiError::OAuth { .. } => Kind::Unauthenticated,
        ApiError::Scope(_) => Kind::Forbidden,
        _ => return graphql_error(failure),
    };
    match kind {
        Kind::Unauthenticated => refusal(StatusCode::UNAUTHORIZED, "Invalid token"),
        Kind::Forbidden | Kind::NotFound => {
            refusal(StatusCode::FORBIDDEN, "API not accessible for user")
        }
        _ => graphql_error(failure),
    }
}

/// A failure of the request as a whole, with its status and headers, in the form of GraphQL.
pub(super) fn graphql_error(failure: &ApiError) -> HttpResponse {
    let mut response = failure.error_response();
    let text = match failure {
        ApiError::Rate(..) => "This endpoint has been requested too many times. Try again later.",
        _ => response.status().canonical_reason().unwrap_or("Internal Server Error"),
    };
    let body = json!({ "errors": [{ "message": text }] }).to_string();
    let kind = header::HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.set_body(BoxBody::new(body))
}

pub(super) fn unprocessable(message: &str) -> HttpResponse {
    refusal(StatusCode::UNPROCESSABLE_ENTITY, message)
}
