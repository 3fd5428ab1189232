//! What holds for every endpoint.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use actix_web::http::Method;
use gateway::{openapi, rest};
use kernel::Visibility;
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

#[actix_web::test]
async fn a_credential_is_asked_for_and_an_unknown_one_refused() {
    let app = TestApp::new();
    let unauthorized = json!({ "message": "401 Unauthorized" });

    app.anonymous().get("/version").await.refused(401, unauthorized.clone());
    app.anonymous()
        .sending("PRIVATE-TOKEN", "nonsense")
        .get("/version")
        .await
        .refused(401, unauthorized);
    assert_eq!(app.person("ada").get("/version").await.ok()["version"], "15.7.0-ee");
}

#[actix_web::test]
async fn every_place_of_a_token_is_read() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let token = ada.token.as_ref().map(|token| token.reveal().to_owned()).unwrap_or_default();
    let nobody = app.anonymous();

    assert_eq!(nobody.get(&format!("/version?private_token={token}")).await.status, 200);
    assert_eq!(nobody.get(&format!("/version?access_token={token}")).await.status, 200);
    assert_eq!(
        nobody.sending("Authorization", &format!("Bearer {token}")).get("/version").await.status,
        200
    );
    assert_eq!(
        nobody.sending("Authorization", "Bearer nonsense").get("/version").await.status,
        401
    );
}

#[actix_web::test]
async fn an_unknown_path_and_a_wrong_method_are_told_apart() {
    let app = TestApp::new();
    let ada = app.person("ada");

    ada.get("/nowhere").await.refused(404, json!({ "error": "404 Not Found" }));
    let wrong = ada.post("/version", json!({})).await;
    assert_eq!(wrong.header("allow"), Some("OPTIONS, GET, HEAD"));
    wrong.refused(405, json!({ "error": "405 Not Allowed" }));
    assert_eq!(ada.get("//api/v3/projects").await.status, 410);
}

#[actix_web::test]
async fn a_slash_at_the_end_of_a_path_says_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let made = ada.post("/projects/", json!({ "name": "engine" })).await.created();
    let project = format!("/projects/{}", made["id"]);
    let fields = json!({ "branch": "main", "content": "x", "commit_message": "x" });
    ada.post(&format!("{project}/repository/files/a.txt/"), fields).await.created();

    for path in ["/version/", "/user/", "/groups/", "/projects/"] {
        assert_eq!(ada.get(path).await.status, 200, "{path}");
    }
    assert_eq!(ada.get(&format!("{project}/")).await.ok()["path"], "engine");
    let branches = ada.get(&format!("{project}/repository/branches/?per_page=1")).await;
    assert_eq!(branches.each("name"), [json!("main")]);
    let archive = ada.head(&format!("{project}/repository/archive.zip/")).await;
    let name = archive.header("content-disposition").expect("a name").to_owned();
    assert!(name.contains(".zip\""), "{name}");
    assert_eq!(ada.post("/version/", json!({})).await.status, 405);
    assert_eq!(ada.get("/nowhere/").await.status, 404);
    ada.put(&format!("{project}/"), json!({ "description": "x" })).await.ok();
    assert_eq!(ada.delete(&format!("{project}/")).await.status, 202);
}

#[actix_web::test]
async fn every_answer_carries_its_headers() {
    let app = TestApp::new();

    let answer = app.person("ada").get("/version").await;

    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("x-frame-options"), Some("SAMEORIGIN"));
    assert_eq!(answer.header("vary"), Some("Origin"));
    assert_eq!(answer.header("cache-control"), Some("max-age=0, private, must-revalidate"));
    assert!(answer.header("x-request-id").is_some_and(|id| id.len() == 32));
    let tag = answer.header("etag").expect("a tag").to_owned();
    let again = app.person("ada").sending("If-None-Match", &tag).get("/version").await;
    assert_eq!((again.status, again.bytes.len()), (304, 0));
}

#[actix_web::test]
async fn the_api_describes_itself_and_needs_nothing_from_elsewhere() {
    let app = TestApp::new();

    let document = app.anonymous().get("/openapi.json").await.ok();
    let page = app.anonymous().get("//-/api").await;

    assert_eq!(document["openapi"], "3.1.0");
    assert!(document == openapi::document(&rest::described()), "run `cargo xtask dump`");
    assert!(document["paths"]["/api/v4/version"]["get"].is_object());
    let page_text = String::from_utf8_lossy(&page.bytes).into_owned();
    assert!(
        !page_text.contains("http://") && !page_text.contains("https://"),
        "nothing is loaded from elsewhere"
    );
    assert_eq!(app.anonymous().get("//").await.header("location"), Some("http://forge.test/-/api"));
}

#[actix_web::test]
async fn a_suffix_that_older_clients_add_is_ignored() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "suffixed", Visibility::Private);

    assert_eq!(ada.get("/version.json").await.status, 200);
    assert_eq!(ada.get(&format!("/projects/{project}.json")).await.ok()["path"], "suffixed");
    assert_eq!(ada.get(&format!("/projects/{project}/protected_tags.json")).await.ok(), json!([]));
    let missing = ada.get(&format!("/projects/{project}/protected_branches/1.json")).await;
    missing.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn a_search_for_little_looks_at_what_says_nothing_too() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "go", Visibility::Public);

    assert_eq!(ada.get("/projects?search=Go").await.each("path"), ["go"]);
    assert_eq!(ada.get("/users?search=ada@example.com").await.status, 200);
}

async fn ask(person: Person<'_>) -> Answer {
    person.send(Method::OPTIONS, "/user/emails", None).await
}

#[actix_web::test]
async fn a_question_for_methods_is_asked_with_a_good_token_or_none() {
    let app = TestApp::new();

    let open = ask(app.anonymous()).await;

    assert_eq!((open.status, open.header("allow")), (204, Some("OPTIONS, GET, POST, HEAD")));
    assert_eq!(ask(app.person("ada")).await.status, 204);
    let unknown = ask(app.anonymous().sending("PRIVATE-TOKEN", "nonsense")).await;
    unknown.refused(401, json!({ "message": "401 Unauthorized" }));
    let blocked = app.person("bob");
    app.block("bob");
    assert_eq!(ask(blocked).await.status, 403);
}

#[actix_web::test]
async fn a_long_body_is_not_waited_for_from_who_may_not_come_in() {
    let app = TestApp::new();
    let server = app.serve();
    let ask = |credential: &'static str| {
        let address = server.address.clone();
        actix_web::web::block(move || {
            let mut line = TcpStream::connect(address).expect("a connection");
            let request = format!(
                "POST /api/v4/user/emails HTTP/1.1\r\nHost: x\r\n{credential}Content-Type: application/json\r\n\
                 Content-Length: 50000000\r\n\r\n"
            );
            line.write_all(request.as_bytes()).expect("a request is sent");
            let mut begun = [0; 12];
            line.read_exact(&mut begun).expect("an answer comes");
            String::from_utf8_lossy(&begun).into_owned()
        })
    };

    // Nothing of the body was sent.
    assert_eq!(ask("PRIVATE-TOKEN: nonsense\r\n").await.expect("a thread"), "HTTP/1.1 401");
}

#[actix_web::test]
async fn what_changed_since_a_moment_is_not_taken_away() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let home = format!("/projects/{}", app.project(&ada, "one", Visibility::Private));
    app.person("bob");
    let bob = app.user("bob").id;
    let group = ada.post("/groups", json!({ "name": "Group", "path": "group" })).await.created();
    let made = async |path: &str, body: Value| {
        let of =
            if path.starts_with("/users") { path.to_owned() } else { format!("{home}/{path}") };
        let made = root.post(&of, body).await.created();
        format!("{of}/{}", made["id"])
    };
    let token = json!({ "name": "t", "scopes": ["api"] });
    let rule = json!({ "name": "Two", "approvals_required": 2 });
    let share = json!({ "group_id": group["id"], "group_access": 30 });
    made("members", json!({ "user_id": bob, "access_level": 30 })).await;
    made("share", share).await;
    made("invitations", json!({ "email": "eve@example.com", "access_level": 30 })).await;

    for path in [
        format!("{home}/members/{bob}"),
        format!("{home}/share/{}", group["id"]),
        format!("{home}/invitations/eve%40example.com"),
        made("labels", json!({ "name": "bug", "color": "red" })).await,
        made("milestones", json!({ "title": "1.0" })).await,
        made("approval_rules", rule).await,
        made("access_tokens", token.clone()).await,
        made(&format!("/users/{bob}/impersonation_tokens"), token).await,
    ] {
        let early = root.sending("If-Unmodified-Since", "Wed, 31 Dec 2025 23:59:59 GMT");
        let kept = json!({ "message": "412 Precondition Failed" });
        early.delete(&path).await.refused(412, kept);
        let nonsense = root.sending("If-Unmodified-Since", "some day");
        assert_eq!(nonsense.delete(&path).await.status, 204, "{path}");
    }
}

#[actix_web::test]
async fn what_changed_about_deployments_since_a_moment_is_not_taken_away() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let new = json!({ "name": "site", "initialize_with_readme": true });
    let home = format!("/projects/{}", ada.post("/projects", new).await.created()["id"]);
    let made = async |path: &str, body: Value| {
        ada.post(&format!("{home}/{path}"), body).await.created()["id"].to_string()
    };
    let branch = ada.get(&format!("{home}/repository/branches/main")).await.ok();
    let deploy = |status: &str| json!({ "environment": "live", "sha": branch["commit"]["id"], "ref": "main", "tag": false, "status": status });
    let failed = made("deployments", deploy("failed")).await;
    made("deployments", deploy("success")).await;
    let stopped = made("environments", json!({ "name": "review" })).await;
    ada.post(&format!("{home}/environments/{stopped}/stop"), json!({})).await.ok();
    let week = json!({ "freeze_start": "0 23 * * 5", "freeze_end": "0 8 * * 1" });
    let freeze = made("freeze_periods", week).await;
    let levels = json!([{ "access_level": 40 }]);
    made("protected_environments", json!({ "name": "live", "deploy_access_levels": levels })).await;

    for path in [
        format!("deployments/{failed}"),
        format!("environments/{stopped}"),
        format!("freeze_periods/{freeze}"),
        "protected_environments/live".to_owned(),
    ] {
        let path = format!("{home}/{path}");
        let early = ada.sending("If-Unmodified-Since", "Wed, 31 Dec 2025 23:59:59 GMT");
        let kept = json!({ "message": "412 Precondition Failed" });
        early.delete(&path).await.refused(412, kept);
        let late = ada.sending("If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT");
        assert_eq!(late.delete(&path).await.status, 204, "{path}");
    }
}
