//! Signatures of lists of commits by GraphQL.

use repo::testing::Fixture;
use serde_json::{Value, json};

use super::review::ask;
use crate::support::{
    TestApp,
    keys::{self, Pgp},
};

const COMMITTER: &str = "cara@example.com";

/// Puts a commit on `main`, with the signature that `sign` makes of it.
fn commit(fixture: &Fixture, number: usize, sign: impl FnOnce(&[u8]) -> Option<String>) {
    let first = |arguments: &[&str]| fixture.lines(arguments)[0].clone();
    let (tree, parent) = (first(&["rev-parse", "main^{tree}"]), first(&["rev-parse", "main"]));
    let at = 1_700_000_000 + number;
    let head = format!(
        "tree {tree}\nparent {parent}\nauthor A <a@x> {at} +0000\ncommitter C <{COMMITTER}> {at} +0000\n"
    );
    let message = format!("\nCommit {number}\n");
    let signature = sign(format!("{head}{message}").as_bytes());
    let signature =
        signature.map(|text| format!("gpgsig {}\n", text.trim_end().replace('\n', "\n ")));
    let object = format!("{head}{}{message}", signature.unwrap_or_default());
    let id = fixture.git_with(&["hash-object", "-t", "commit", "-w", "--stdin"], object.as_bytes());
    fixture.lines(&["update-ref", "refs/heads/main", String::from_utf8_lossy(&id).trim()]);
}

/// The newest commits of a project, with their signatures.
fn query(path: &str, count: usize) -> String {
    format!(
        r#"{{ project(fullPath: "{path}") {{ repository {{ commits(ref: "main", first: {count}) {{ nodes {{ title
           signature {{ __typename verificationStatus ... on GpgSignature {{ user {{ username }} }}
           ... on SshSignature {{ user {{ username }} }} }} }} }} }} }} }}"#
    )
}

#[actix_web::test]
async fn signatures_of_many_commits_cost_as_many_statements_as_those_of_one() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let (own, strange, ssh) =
        (Pgp::of("Cara <cara@example.com>"), Pgp::of("Eve <eve@example.com>"), keys::ssh());
    commit(&fixture, 1, |text| Some(keys::ssh_signature(&ssh, "git", text)));
    commit(&fixture, 2, |_| None);
    commit(&fixture, 3, |text| Some(strange.signature(text)));
    commit(&fixture, 4, |text| Some(own.signature_by_subkey(text)));
    commit(&fixture, 5, |text| Some(own.signature(text)));
    let project = app.project_from(&fixture);
    let shown = app.admin().get(&format!("/projects/{project}")).await.ok();
    let path = shown["path_with_namespace"].as_str().expect("a path").to_owned();
    let cara = app.person("cara");
    cara.post("/user/gpg_keys", json!({ "key": own.public() })).await.created();
    let line = keys::line_of(&ssh);
    cara.post("/user/keys", json!({ "title": "k", "key": line })).await.created();
    let cost = async |count: usize| {
        let nodes = ask(&cara, &query(&path, count)).await;
        let cost = app.cost(async || drop(ask(&cara, &query(&path, count)).await)).await;
        (nodes["project"]["repository"]["commits"]["nodes"].clone(), cost)
    };

    let (_, of_one) = cost(1).await;
    let (found, of_all) = cost(5).await;

    let told: Vec<Value> = found
        .as_array()
        .expect("commits")
        .iter()
        .map(|one| {
            json!([
                one["title"],
                one["signature"]["verificationStatus"],
                one["signature"]["user"]["username"]
            ])
        })
        .collect();
    let expected = json!([
        ["Commit 5", "VERIFIED", "cara"],
        ["Commit 4", "VERIFIED", "cara"],
        ["Commit 3", "UNKNOWN_KEY", null],
        ["Commit 2", null, null],
        ["Commit 1", "VERIFIED", "cara"],
    ]);
    assert_eq!(Value::Array(told), expected);
    // An SSH key is in a table of its own, with its owner.
    assert!(of_all <= of_one + 2, "{of_one} became {of_all}");
}
