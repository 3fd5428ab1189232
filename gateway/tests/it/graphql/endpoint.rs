//! The ways in which queries are sent, and the statuses of the answers.

use actix_web::http::Method;
use org::{
    token::Scope,
    user::{actions::NewUser, password},
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask};
use crate::support::{Answer, Person, TestApp};

const ENDPOINT: &str = "//api/graphql";
const FORM: &str = "application/x-www-form-urlencoded";
const EXPLORER: &str = "//-/graphql-explorer";
const ECHO: &str = r#"{ echo(text: "hi") }"#;
const ECHO_CREATE: &str = r#"mutation { echoCreate(input: { messages: "hi" }) { echoes errors } }"#;

fn errors(answer: &Answer) -> Value {
    answer.body["errors"][0]["message"].clone()
}

#[actix_web::test]
async fn the_schema_fits_its_resolvers() {
    let built = resolvers::registry().build();
    assert_eq!(built.err().unwrap_or_default(), Vec::<String>::new());
}

#[actix_web::test]
async fn an_echo_tells_who_spoke() {
    let app = TestApp::new();
    assert_eq!(ask(&app.person("ada"), ECHO).await, json!({ "echo": "\"ada\" says: hi" }));
    assert_eq!(ask(&app.anonymous(), ECHO).await, json!({ "echo": "nil says: hi" }));
    let said = ask(&app.person("ada"), ECHO_CREATE).await;
    assert_eq!(said["echoCreate"], json!({ "echoes": ["\"ada\" says: hi"], "errors": [] }));
}

#[actix_web::test]
async fn whoever_is_not_signed_in_makes_no_mutation() {
    let app = TestApp::new();
    let answer = app.anonymous().post(ENDPOINT, json!({ "query": ECHO_CREATE })).await;
    assert_eq!((answer.status, errors(&answer)), (200, json!(REFUSED)));
    assert_eq!(answer.body["data"], json!({ "echoCreate": null }));
}

#[actix_web::test]
async fn what_the_server_is_learns_who_is_signed_in() {
    let app = TestApp::new();
    let query = "{ metadata { version revision enterprise kas { enabled externalUrl } } }";
    let metadata = ask(&app.person("ada"), query).await["metadata"].clone();
    let by_rest = app.person("ada").get("/metadata").await.ok();
    assert_eq!(
        (&metadata["version"], &metadata["revision"]),
        (&by_rest["version"], &by_rest["revision"])
    );
    assert_eq!(metadata["kas"], json!({ "enabled": false, "externalUrl": null }));
    assert_eq!(ask(&app.anonymous(), query).await["metadata"], Value::Null);
}

#[actix_web::test]
async fn queries_come_as_json_forms_parameters_and_plain_text() {
    let app = TestApp::new();
    let ada = app.anonymous();
    let expected = json!({ "data": { "echo": "nil says: a" } });
    let text = "query q($t: String!) { echo(text: $t) }";
    let by_json = json!({ "query": text, "operationName": "q", "variables": "{\"t\": \"a\"}" });
    assert_eq!(ada.post(ENDPOINT, by_json).await.ok(), expected);

    let form = "query=query%20q(%24t:String!)%7Becho(text:%24t)%7D&variables=%7B%22t%22:%22a%22%7D";
    let by_form = ada.send_bytes(Method::POST, ENDPOINT, FORM, form.as_bytes());
    assert_eq!(by_form.await.ok(), expected);
    assert_eq!(ada.get(&format!("{ENDPOINT}?{form}")).await.ok(), expected);
    assert_eq!(ada.head(&format!("{ENDPOINT}?{form}")).await.status, 200);
    let plain = br#"{ echo(text: "a") }"#;
    let plain = ada.send_bytes(Method::POST, ENDPOINT, "application/graphql", plain);
    assert_eq!(plain.await.ok(), expected);
}

#[actix_web::test]
async fn answers_are_json_in_utf_8() {
    let app = TestApp::new();
    let answer = app.anonymous().post(ENDPOINT, json!({ "query": ECHO })).await;
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
}

#[actix_web::test]
async fn many_queries_answer_in_a_list() {
    let app = TestApp::new();
    let queries = json!([{ "query": ECHO }, { "query": "{ nothing }" }, { "query": ECHO }]);
    let answers = app.anonymous().post(ENDPOINT, queries).await.ok();
    assert_eq!(answers[0], json!({ "data": { "echo": "nil says: hi" } }));
    assert_eq!(answers[1]["errors"][0]["extensions"]["code"], "undefinedField");
    assert_eq!(answers[2], answers[0]);
}

#[actix_web::test]
async fn mutations_are_not_made_by_asking() {
    let app = TestApp::new();
    let path = format!("{ENDPOINT}?query=mutation%7BechoCreate(input:%7B%7D)%7Berrors%7D%7D");
    let answer = app.person("ada").get(&path).await;
    let expected = json!({ "errors": [{ "message": "Mutations are forbidden in GET requests" }] });
    answer.refused(422, expected);
    assert_eq!(app.person("ada").head(&path).await.status, 422);
}

#[actix_web::test]
async fn variables_of_other_kinds_are_refused() {
    let app = TestApp::new();
    for odd in [json!(5), json!([]), json!("[")] {
        let body = json!({ "query": ECHO, "variables": odd });
        assert_eq!(app.anonymous().post(ENDPOINT, body).await.status, 422);
    }
    for none in [json!({}), json!(""), Value::Null] {
        let body = json!({ "query": ECHO, "variables": none });
        app.anonymous().post(ENDPOINT, body).await.ok();
    }
}

#[actix_web::test]
async fn bodies_that_cannot_be_read_are_refused() {
    let app = TestApp::new();
    let send = |kind: &'static str, body: &'static [u8]| async {
        let who = app.anonymous();
        let answer = who.send_bytes(Method::POST, ENDPOINT, kind, body).await;
        answer.status
    };
    assert_eq!(send("application/json", b"{").await, 400);
    assert_eq!(send("text/csv", b"a,b").await, 415);
    assert_eq!(send("multipart/form-data; boundary=edge", b"x").await, 400);
}

#[actix_web::test]
async fn files_come_in_a_multipart_form() {
    let app = TestApp::new();
    let operations = r#"{"query":"query q($t: String!) { echo(text: $t) }","variables":{"t":"a"}}"#;
    let body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{operations}\r\n\
         --edge\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n{{\"0\":[\"variables.f\"]}}\r\n\
         --edge\r\nContent-Disposition: form-data; name=\"0\"; filename=\"a.txt\"\r\n\r\nabc\r\n--edge--\r\n"
    );
    let kind = "multipart/form-data; boundary=edge";
    let answer = app.anonymous().send_bytes(Method::POST, ENDPOINT, kind, body.as_bytes()).await;
    assert_eq!(answer.ok(), json!({ "data": { "echo": "nil says: a" } }));
}

#[actix_web::test]
async fn tokens_are_shown_in_every_usual_place() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let token = ada.token.as_ref().expect("a token").reveal().to_owned();
    let expected = json!({ "data": { "echo": "\"ada\" says: hi" } });
    let bearer = format!("Bearer {token}");
    let body = || json!({ "query": ECHO });
    let nobody = app.anonymous();
    let sent = nobody.sending("Authorization", &bearer).post(ENDPOINT, body()).await;
    assert_eq!(sent.ok(), expected);
    let with_token = json!({ "query": ECHO, "private_token": token });
    assert_eq!(nobody.post(ENDPOINT, with_token).await.ok(), expected);
    let path = format!("{ENDPOINT}?access_token={token}");
    assert_eq!(nobody.post(&path, body()).await.ok(), expected);
}

#[actix_web::test]
async fn a_token_that_is_not_good_is_refused() {
    let app = TestApp::new();
    let expected = json!({ "errors": [{ "message": "Invalid token" }] });
    let wrong = app.anonymous();
    let wrong = wrong.sending("PRIVATE-TOKEN", "wrong");
    wrong.post(ENDPOINT, json!({ "query": ECHO })).await.refused(401, expected.clone());
    let narrow = app.someone(&NewUser::named("ada"), &[Scope::ReadUser]);
    narrow.post(ENDPOINT, json!({ "query": ECHO })).await.refused(401, expected);
}

#[actix_web::test]
async fn who_is_blocked_may_not_ask() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.block("ada");
    let expected = json!({ "errors": [{ "message": "API not accessible for user" }] });
    ada.post(ENDPOINT, json!({ "query": ECHO })).await.refused(403, expected);
}

#[actix_web::test]
async fn a_token_that_reads_changes_nothing() {
    let app = TestApp::new();
    let reader = app.someone(&NewUser::named("ada"), &[Scope::ReadApi]);
    assert_eq!(ask(&reader, ECHO).await["echo"], "\"ada\" says: hi");
    let answer = reader.post(ENDPOINT, json!({ "query": ECHO_CREATE })).await;
    assert_eq!(errors(&answer), REFUSED);
    assert_eq!(answer.body["data"], json!({ "echoCreate": null }));
}

#[actix_web::test]
async fn the_explorer_is_a_page_without_scripts_inside() {
    let app = TestApp::new();
    let page = app.anonymous().get("//-/graphql-explorer").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    let policy = page.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("script-src 'self';") && !policy.contains("eval"), "{policy}");
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("<script>"));
}

#[actix_web::test]
async fn the_files_of_the_explorer_come_compressed_to_who_takes_that() {
    let app = TestApp::new();
    let nobody = app.anonymous();
    for name in ["explorer.js", "editor.worker.js", "graphql.worker.js", "json.worker.js"] {
        let path = format!("//-/graphql-explorer/{name}");
        let plain = nobody.get(&path).await;
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
        assert!(std::str::from_utf8(&plain.bytes).is_ok_and(|text| text.contains("function")));
        let packed = nobody.sending("Accept-Encoding", "br, gzip;q=0.5").get(&path).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert!(packed.bytes.len() < plain.bytes.len());
        let refused = nobody.sending("Accept-Encoding", "gzip;q=0").get(&path).await;
        assert_eq!(refused.bytes, plain.bytes);
    }
    for name in ["explorer.css", "codicon.ttf", "licences.txt"] {
        assert_eq!(nobody.get(&format!("//-/graphql-explorer/{name}")).await.status, 200);
    }
    assert_eq!(nobody.get("//-/graphql-explorer/explorer.html").await.status, 404);
}

/// The cookie of a browser in which Ada is signed in.
async fn session(app: &TestApp) -> String {
    let hash = password::hash("difference engine").expect("a hash");
    app.someone(&NewUser { password_hash: Some(hash), ..NewUser::named("ada") }, &[]);
    let fields = json!({ "username": "ada", "password": "difference engine" });
    let begun = app.anonymous().post("//users/sign_in", fields).await;
    let cookie = begun.header("set-cookie").expect("a cookie");
    cookie.split(';').next().unwrap_or_default().to_owned()
}

/// The value that the explorer's page shows.
async fn csrf_value(person: &Person<'_>) -> String {
    let page = String::from_utf8(person.get(EXPLORER).await.bytes).expect("text");
    let value = page.split("name=\"csrf-token\" content=\"").nth(1).expect("the element");
    value.split('"').next().unwrap_or_default().to_owned()
}

#[actix_web::test]
async fn a_session_counts_with_the_value_that_its_pages_show() {
    let app = TestApp::new();
    let browser = app.anonymous().sending("Cookie", &session(&app).await);
    let value = csrf_value(&browser).await;
    let signed_in = json!({ "echo": "\"ada\" says: hi" });
    let with = |value: &str| browser.sending("X-CSRF-Token", value);
    assert_eq!(ask(&with(&value), ECHO).await, signed_in);
    let changed = ask(&with(&value), ECHO_CREATE).await;
    assert_eq!(changed["echoCreate"]["echoes"], json!(["\"ada\" says: hi"]));

    let nobody = json!({ "echo": "nil says: hi" });
    assert_eq!(ask(&browser, ECHO).await, nobody, "without the value");
    assert_eq!(ask(&with("wrong"), ECHO).await, nobody);
    let stranger = app.anonymous().sending("X-CSRF-Token", &value);
    assert_eq!(ask(&stranger, ECHO).await, nobody, "without the session");
    assert_eq!(csrf_value(&stranger).await, "");
    browser.post("//users/sign_out", json!({})).await;
    assert_eq!(ask(&with(&value), ECHO).await, nobody, "after the session");
}
