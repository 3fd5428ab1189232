//! What no client should send: each is refused as the contract says, before the database is asked for anything.

use actix_web::http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

const ENDPOINT: &str = "//api/graphql";

/// Sends a document; asserts that it is refused without a question to the database, and answers with the message.
async fn refusal(app: &TestApp, query: &str, variables: Value) -> String {
    app.statements();
    let body = json!({ "query": query, "variables": variables });
    let answer = app.anonymous().post(ENDPOINT, body).await.ok();
    assert_eq!(app.statements(), Vec::<String>::new(), "{query}");
    assert_eq!(answer.get("data"), None, "{query}");
    answer["errors"][0]["message"].as_str().expect("a message").to_owned()
}

async fn send(app: &TestApp, kind: &'static str, body: &[u8]) -> Answer {
    app.statements();
    let answer = app.anonymous().send_bytes(Method::POST, ENDPOINT, kind, body).await;
    assert_eq!(app.statements(), Vec::<String>::new());
    answer
}

fn message(answer: &Answer) -> &str {
    answer.body["errors"][0]["message"].as_str().unwrap_or_default()
}

#[actix_web::test]
async fn documents_that_are_none_are_refused_where_they_break() {
    let app = TestApp::new();
    for (query, expected) in [
        ("", "Unexpected end of document"),
        ("{", "Unexpected end of document"),
        ("{ metadata { version } ", "Unexpected end of document"),
        ("{ metadata }}", "Parse error on \"}\" (RCURLY) at [1, 13]"),
        ("{ metadata \0 }", "Parse error on \"\0\" (UNKNOWN_CHAR) at [1, 12]"),
        ("query query query", "Parse error on \"query\" "),
        ("type Query { a: Int }", "Parse error on \"type\" "),
    ] {
        let said = refusal(&app, query, Value::Null).await;
        assert!(said.starts_with(expected), "{query}: {said}");
    }
}

#[actix_web::test]
async fn documents_that_do_not_fit_the_schema_are_refused() {
    let app = TestApp::new();
    for (query, expected) in [
        ("{ nothing }", "Field 'nothing' doesn't exist on type 'Query'"),
        ("{ project { id } }", "Field 'project' is missing required arguments: fullPath"),
        (
            "{ echo(text: 5) }",
            "Argument 'text' on Field 'echo' has an invalid value (5). Expected type 'String!'.",
        ),
        ("{ echo(text: \"a\", loud: true) }", "Field 'echo' doesn't accept argument 'loud'"),
        ("{ ...f }", "Fragment f was used, but not defined"),
        (
            "{ ...f } fragment f on Query { ...g } fragment g on Query { ...f }",
            "Fragment f contains an infinite loop",
        ),
        ("query q($x: Int) { metadata { version } }", "Variable $x is declared by q but not used"),
        ("query q { echo(text: $x) }", "Variable $x is used by q but not declared"),
        ("{ metadata @twice { version } }", "Directive @twice is not defined"),
    ] {
        assert_eq!(refusal(&app, query, Value::Null).await, expected, "{query}");
    }
}

#[actix_web::test]
async fn wrong_variables_are_refused_with_their_names() {
    let app = TestApp::new();
    let query = "query q($id: IssueID!) { issue(id: $id) { id } }";
    for odd in [
        json!({}),
        json!({ "id": null }),
        json!({ "id": { "a": 1 } }),
        json!({ "id": [[1]] }),
        json!({ "id": "gid://gitlab/User/1" }),
    ] {
        let said = refusal(&app, query, odd).await;
        assert!(
            said.starts_with("Variable $id of type IssueID! was provided invalid value"),
            "{said}"
        );
    }
    let query = "query q($n: Int) { project(fullPath: \"a\") { issues(first: $n) { count } } }";
    for huge in [json!(1e300), json!(9_999_999_999_i64), json!("1"), json!(1.5)] {
        let said = refusal(&app, query, json!({ "n": huge })).await;
        assert!(said.starts_with("Variable $n of type Int was provided invalid value"), "{said}");
    }
}

#[actix_web::test]
async fn documents_that_want_to_do_harm_cost_nothing() {
    let app = TestApp::new();
    let aliases: String = (0..1_000).map(|n| format!("a{n}:__typename ")).collect();
    let long: String = (0..900).map(|n| format!("a{n}:gitpodEnabled\n")).collect();
    let doubles: String = (0..60)
        .map(|n| format!("fragment f{n} on Query {{ ...f{0} ...f{0} ...f{0} }} ", n + 1))
        .collect();
    let deep = format!("{{ {}", "project(fullPath:\"a\"){group{".repeat(200));
    let lists = format!("{{ projects(ids: {}) {{ count }} }}", "[".repeat(4_000));
    let number = format!("{{ projects(first: {}) {{ count }} }}", "9".repeat(5_000));
    let defaults =
        format!("query q($x: [Int] = [{}]) {{ metadata {{ version }} }}", "1,".repeat(4_000));
    for query in [
        format!("{{ {} }}", &long[..9_900.min(long.len())]),
        format!("{{ {aliases} }}"),
        format!("{{ ...f0 }} {doubles} fragment f60 on Query {{ __typename }}"),
        deep,
        lists,
        number,
        defaults,
    ] {
        let body = json!({ "query": query });
        app.statements();
        let answer = app.anonymous().post(ENDPOINT, body).await;
        assert!(answer.status == 200 || answer.status == 422, "{}", answer.status);
        assert!(!message(&answer).is_empty(), "{}", &query[..60]);
        assert_eq!(app.statements(), Vec::<String>::new());
    }
}

#[actix_web::test]
async fn bodies_that_are_no_requests_are_refused() {
    let app = TestApp::new();
    let deep = format!(
        "{{\"query\":\"{{a}}\",\"variables\":{}1{}}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let many = format!("[{}]", vec!["{\"query\":\"{__typename}\"}"; 10_000].join(","));
    for (body, status) in [
        (b"\xff\xfe{}".to_vec(), 400),
        (b"{\"query\":\"{ \xc3\x28 }\"}".to_vec(), 400),
        (deep.into_bytes(), 400),
        (many.into_bytes(), 422),
        (b"[[[]]]".to_vec(), 200),
        (b"5".to_vec(), 200),
        (b"\"text\"".to_vec(), 200),
        (b"{\"query\":5}".to_vec(), 200),
        (b"{\"query\":null,\"variables\":[]}".to_vec(), 422),
        (Vec::new(), 200),
    ] {
        let answer = send(&app, "application/json", &body).await;
        let start = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        assert_eq!(answer.status, status, "{start}");
        let said = if answer.body.is_array() { &answer.body[0] } else { &answer.body };
        assert!(said["errors"][0]["message"].is_string(), "{start}");
    }
}

#[actix_web::test]
async fn texts_with_zero_bytes_are_refused_as_everywhere() {
    let app = TestApp::new();
    let query = "query q($p: ID!) { project(fullPath: $p) { id } }";
    let said = refusal(&app, query, json!({ "p": "a\0b" })).await;
    assert!(said.starts_with("Variable $p of type ID! was provided invalid value"), "{said}");
    let said = refusal(&app, "{ group(fullPath: \"\\u0000\") { id } }", Value::Null).await;
    assert!(
        said.starts_with("Argument 'fullPath' on Field 'group' has an invalid value"),
        "{said}"
    );
}

/// A form with these parts: names, with the name of a file where the part is one, and contents.
fn form(parts: &[(&str, Option<&str>, &str)]) -> Vec<u8> {
    let mut body = String::new();
    for (name, file, content) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        body += &format!(
            "--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{content}\r\n"
        );
    }
    body += "--edge--\r\n";
    body.into_bytes()
}

#[actix_web::test]
async fn odd_multipart_forms_are_refused() {
    let app = TestApp::new();
    let kind = "multipart/form-data; boundary=edge";
    let operations = ("operations", None, r#"{"query":"{ __typename }"}"#);
    let many: Vec<_> = (0..200).map(|_| ("x", Some("a"), "")).collect();
    for (body, status) in [
        (form(&[("operations", None, "{")]), 400),
        (form(&[("operations", None, "\u{0}")]), 400),
        (form(&[operations, ("map", None, "[]")]), 400),
        (form(&[operations, ("map", None, r#"{"0":"variables.a"}"#)]), 400),
        (form(&[operations, ("map", None, r#"{"0":["variables.a"]}"#)]), 422),
        (form(&many), 413),
        (b"--edge\r\n".to_vec(), 400),
        (b"no form at all".to_vec(), 400),
    ] {
        let answer = send(&app, kind, &body).await;
        let shown = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(answer.status, status, "{shown}");
        assert!(!message(&answer).is_empty(), "{shown}");
    }
    // A file for a variable that is nowhere, or for no variable, is not missed.
    let map = ("map", None, r#"{"0":["variables.a.b.0","query","",".."]}"#);
    let answer = send(&app, kind, &form(&[operations, map, ("0", Some("a"), "x")])).await;
    assert_eq!(answer.ok(), json!({ "data": { "__typename": "Query" } }));
    let alone = send(&app, kind, &form(&[("0", Some("a"), "x")])).await;
    assert!(!message(&alone).is_empty());
}
