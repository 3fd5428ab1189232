//! Ways in that must stay shut: odd paths, injected headers, and what a refusal gives away.

use kernel::Visibility;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn what_is_not_visible_answers_as_what_is_not_there() {
    let app = TestApp::new();
    let owner = app.person("olga");
    let secret = app.project(&owner, "secret", Visibility::Private);
    let paths = |id: &str| {
        [
            "",
            "/repository/commits",
            "/repository/branches/main",
            "/repository/files/a",
            "/protected_tags",
        ]
        .map(|tail| format!("/projects/{id}{tail}?ref=main"))
    };

    for who in [app.anonymous(), app.person("stranger")] {
        for (hidden, none) in paths(&secret.to_string()).iter().zip(paths("999999")) {
            let (hidden, none) = (who.get(hidden).await, who.get(&none).await);
            assert_eq!((hidden.status, &hidden.body), (none.status, &none.body));
            assert!(matches!(hidden.status, 401 | 404), "{hidden:?}");
            let names = |answer: &crate::support::Answer| {
                let mut names: Vec<_> = answer.headers.keys().map(ToString::to_string).collect();
                names.sort();
                names
            };
            assert_eq!(names(&hidden), names(&none));
        }
    }
    let (hidden, none) = ("olga%2Fsecret", "olga%2Fnothing");
    let stranger = app.person("stranger");
    assert_eq!(
        stranger.get(&format!("/projects/{hidden}")).await.with(404),
        stranger.get(&format!("/projects/{none}")).await.with(404)
    );
}

#[actix_web::test]
async fn odd_paths_find_nothing_and_break_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "one", Visibility::Public);
    let file = json!({ "branch": "main", "content": "x", "commit_message": "x" });
    let files = format!("/projects/{project}/repository/files");
    ada.post(&format!("{files}/a.txt"), file).await.created();

    let long = "a".repeat(30_000);
    for odd in [
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "..%2F..%2Fetc%2Fpasswd",
        "%2Fetc%2Fpasswd",
        "%252e%252e%252fconfig",
        ".git%2Fconfig",
        "a.txt%00",
        "%00",
        "%ff%fe",
        "%",
        "%zz",
        "--output=x",
        "a%0d%0aX-Evil:1",
        long.as_str(),
    ] {
        for path in [
            format!("{files}/{odd}?ref=main"),
            format!("{files}/{odd}/raw?ref=main"),
            format!("{files}/a.txt?ref={odd}"),
            format!("/projects/{odd}"),
            format!("/projects/{project}/repository/commits/{odd}"),
            format!("/projects/{project}/repository/branches/{odd}"),
            format!("/projects/{project}/repository/tree?path={odd}"),
            format!("/groups/{odd}"),
            format!("/version?sudo={odd}"),
        ] {
            let answer = ada.get(&path).await;
            assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
            assert_eq!(answer.header("x-evil"), None);
        }
    }
}

#[actix_web::test]
async fn a_file_name_cannot_add_a_header() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "one", Visibility::Public);
    let path = format!("/projects/{project}/repository/files/a%0d%0aX-Evil%3a%201");
    let file = json!({ "branch": "main", "content": "x", "commit_message": "x" });
    ada.post(&path, file).await;

    for answer in [
        ada.head(&format!("{path}?ref=main")).await,
        ada.get(&format!("{path}/raw?ref=main")).await,
    ] {
        assert!(answer.status < 500, "{answer:?}");
        assert_eq!(answer.header("x-evil"), None);
    }
}

#[actix_web::test]
async fn a_link_holds_nothing_that_ends_it_and_no_credential() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "one", Visibility::Public);
    let path = format!("/projects/{project}/protected_tags");

    let token = ada.token.as_ref().map(|token| token.reveal().to_owned()).unwrap_or_default();
    let query =
        format!("x=%0d%0aSet-Cookie:%20a&y=%3E%3B%20rel%3D%22next%22&private_token={token}");
    let answer = ada.get(&format!("{path}?{query}")).await;

    let link = answer.header("link").expect("a list has links");
    assert!(link.contains("x=%0D%0ASet-Cookie%3A%20a"), "{link}");
    assert!(!link.contains(&token) && !link.contains("rel=\"next\""), "{link}");
    assert_eq!(answer.header("set-cookie"), None);
}

#[actix_web::test]
async fn a_wrong_password_and_an_unknown_name_are_told_alike() {
    let app = TestApp::new();
    app.person("ada");
    let grant =
        |name: &str| json!({ "grant_type": "password", "username": name, "password": "wrong" });

    let known = app.anonymous().post("//oauth/token", grant("ada")).await;
    let unknown = app.anonymous().post("//oauth/token", grant("nobody")).await;

    assert_eq!((known.status, &known.body), (unknown.status, &unknown.body));
    assert_eq!(known.body["error"], "invalid_grant");
}
