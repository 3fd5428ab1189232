//! Status and body of each failure.

use actix_web::ResponseError;
use kernel::Error;
use serde_json::{Value, json};

use super::{ApiError, of_kernel};

/// The statuses and bodies of errors; text alone stands for a body with nothing but a `message`.
fn responses<const N: usize>(errors: [Error; N]) -> [(u16, Value); N] {
    errors.map(|error| {
        let (status, body) = of_kernel(&error);
        let alone = body.as_object().filter(|all| all.len() == 1);
        let text = alone.and_then(|all| all.get("message")).filter(|text| text.is_string());
        (status.as_u16(), text.cloned().unwrap_or_else(|| body.clone()))
    })
}

#[test]
fn faults_of_the_machine_have_their_own_statuses() {
    let actual = [28, 122, 24, 23, 36, 5].map(|code| {
        let failure = ApiError::from(Error::internal(std::io::Error::from_raw_os_error(code)));
        let response = failure.error_response();
        let later = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        (response.status().as_u16(), later.map(str::to_owned))
    });
    let soon = Some("5".to_owned());
    let expected =
        [(507, None), (507, None), (503, soon.clone()), (503, soon), (400, None), (500, None)];
    assert_eq!(actual, expected);
}

#[test]
fn a_missing_thing_has_five_spellings() {
    let actual = responses([
        Error::missing(),
        Error::hidden(),
        Error::not_found("Project"),
        Error::missing().named("User 'ada'".to_owned()),
        Error::missing().whole("Not Found"),
    ]);
    let expected = [
        "404 Not found",
        "404 Not Found",
        "404 Project Not Found",
        "404 User 'ada' Not Found",
        "Not Found",
    ];
    assert_eq!(actual, expected.map(|text| (404, json!(text))));
}

#[test]
fn an_error_without_a_message_has_the_words_of_its_kind() {
    let actual = responses([
        Error::unauthenticated(),
        Error::forbidden(),
        Error::bad_request(),
        Error::gave_way(),
        Error::precondition(),
        Error::not_acceptable(),
        Error::not_allowed(),
        Error::too_large("a form"),
        Error::unavailable("shutting down"),
    ]);
    let expected = [
        (401, "401 Unauthorized"),
        (403, "403 Forbidden"),
        (400, "400 Bad request"),
        (409, "409 Conflict: Resource lock"),
        (412, "412 Precondition Failed"),
        (406, "406 Not Acceptable"),
        (405, "405 Method Not Allowed"),
        (413, "413 Request Entity Too Large"),
        (503, "503 Service Unavailable"),
    ];
    assert_eq!(actual, expected.map(|(status, text)| (status, json!(text))));
}

#[test]
fn a_reason_follows_the_words_of_the_kind() {
    let actual = responses([
        Error::forbidden().because("no"),
        Error::bad_request().because("no"),
        Error::unauthenticated().because("Target Namespace"),
    ]);
    let expected = [
        (403, json!("403 Forbidden - no")),
        (400, json!("400 Bad request - no")),
        (401, json!("401 Unauthorized - Target Namespace")),
    ];
    assert_eq!(actual, expected);
}

#[test]
fn other_messages_have_other_bodies() {
    let deep = "This endpoint has been requested too many times. Try again later.";
    let fields = vec![("name".to_owned(), vec!["is taken".to_owned()])];
    let actual = responses([
        Error::unchanged(),
        Error::bad_request().whole("Sorry"),
        Error::unprocessable(),
        Error::too_many(9),
        Error::invalid("name", "is taken"),
        Error::conflict().fields(fields),
        Error::unprocessable().sentences(vec!["one".to_owned(), "two".to_owned()]),
        Error::bad_request().parameters("id is invalid"),
        Error::forbidden().limit("Your limit is 1"),
        Error::bad_request().coded("Sorry", "empty"),
    ]);
    let expected = [
        (304, Value::Null),
        (400, json!("Sorry")),
        (422, json!({ "message": { "error": "Unprocessable Entity" } })),
        (429, json!({ "message": { "error": deep } })),
        (400, json!({ "message": { "name": ["is taken"] } })),
        (409, json!({ "message": { "name": ["is taken"] } })),
        (422, json!({ "message": ["one", "two"] })),
        (400, json!({ "error": "id is invalid" })),
        (403, json!({ "error": ["Your limit is 1"] })),
        (400, json!({ "message": "Sorry", "error_code": "empty" })),
    ];
    assert_eq!(actual, expected);
}
