//! Addresses of repositories that are not written as they are kept: without `.git`, and from before a rename.

use kernel::Visibility::{Private, Public};
use serde_json::json;

use super::{Client, Forge};

fn without_suffix(url: &str) -> String {
    url.trim_end_matches(".git").to_owned()
}

#[actix_web::test]
async fn a_repository_is_cloned_and_pushed_without_its_suffix() {
    let (forge, client) = Forge::with_commit(Private).await;
    let url = without_suffix(&forge.url());

    let copy = Client::new();
    copy.git(&["clone", "-q", &url, "."]).await.ok();
    let tip = copy.commit("second").await;
    copy.git(&["push", "-q", &url, "HEAD:topic"]).await.ok();

    client.run("fetch -q origin").await.ok();
    assert_eq!(client.run("rev-parse origin/topic").await.ok(), tip);
}

#[actix_web::test]
async fn a_wiki_is_found_without_its_suffix() {
    let forge = Forge::of(Private);
    let url = format!("{}.wiki", without_suffix(&forge.url()));
    let client = Client::with_commit().await;

    client.git(&["push", "-q", &url, "main"]).await.ok();

    let listed = client.git(&["ls-remote", &format!("{url}/"), "refs/heads/main"]).await.ok();
    assert!(listed.starts_with(&client.run("rev-parse main").await.ok()), "{listed}");
}

#[actix_web::test]
async fn a_suffix_is_added_whether_or_not_something_is_there() {
    let forge = Forge::of(Private);
    let nobody = forge.app.anonymous();
    for service in ["git-upload-pack", "git-receive-pack"] {
        for path in ["alice/work", "alice/nothing", "a/b/c"] {
            let answer = nobody.get(&format!("//{path}/info/refs?service={service}")).await;
            let location = format!("/{path}.git/info/refs?service={service}");
            assert_eq!((answer.status, answer.header("location")), (301, Some(&*location)));
        }
    }
    for odd in ["//work/info/refs", "//a/%5Cevil.test/info/refs", "//a/%0d%0ax/info/refs"] {
        let answer = nobody.get(&format!("{odd}?service=git-upload-pack")).await;
        assert_eq!((answer.status, answer.header("location")), (404, None), "{odd}");
    }
    let outside = nobody.get("///evil.test/a/info/refs?service=git-upload-pack").await;
    let inside = "/evil.test/a.git/info/refs?service=git-upload-pack";
    assert_eq!(outside.header("location"), Some(inside));
}

#[actix_web::test]
async fn an_old_address_tells_git_where_the_project_is_now() {
    let (forge, client) = Forge::with_commit(Private).await;
    let alice = forge.app.person("alice");
    let renamed = json!({ "path": "play" });
    alice.put(&format!("/projects/{}", forge.project), renamed).await.ok();
    let said = client.run("ls-remote origin HEAD").await;

    assert!(said.complaint().contains("redirecting to http://"), "{}", said.complaint());
    assert!(said.complaint().contains("/alice/play.git/"), "{}", said.complaint());
    assert!(said.ok().starts_with(&client.run("rev-parse main").await.ok()));
    client.commit("second").await;
    client.run("push -q origin main").await.ok();
    client.run("fetch -q origin").await.ok();
}

#[actix_web::test]
async fn an_old_address_tells_nothing_to_who_may_not_see_the_project() {
    let (forge, _client) = Forge::with_commit(Private).await;
    let alice = forge.app.person("alice");
    alice.put(&format!("/projects/{}", forge.project), json!({ "path": "play" })).await.ok();
    let path = "//alice/work.git/info/refs?service=git-upload-pack";

    let unseen = forge.app.anonymous().get(path).await;
    assert_eq!((unseen.status, unseen.header("location")), (401, None));
    let unseen = forge.app.person("eve").by_password().get(path).await;
    assert_eq!((unseen.status, unseen.header("location")), (404, None));
    let seen = alice.by_password().get(path).await;
    let location = "/alice/play.git/info/refs?service=git-upload-pack";
    assert_eq!((seen.status, seen.header("location")), (301, Some(location)));
}

#[actix_web::test]
async fn an_address_in_other_letters_is_the_same_address() {
    let (forge, _client) = Forge::with_commit(Public).await;
    let path = "//Alice/WORK.git/info/refs?service=git-upload-pack";
    assert_eq!(forge.app.anonymous().get(path).await.status, 200);
}
