//! The wikis of projects and groups, cloned and pushed as any other repository.

use gateway::app::Limits;
use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
    Visibility::{self, Private, Public},
    ids::NamespaceId,
};
use org::{jobs::PurgeDeletions, token::Scope, user::actions::NewUser};
use repo::git::Wiki;
use serde_json::{Value, json};

use super::{Client, Forge, forge::secret};
use crate::support::TestApp;

const NO_WIKI: &str = "There is no such wiki, or you may not see it.";
const MAY_NOT_READ: &str = "You are not allowed to read this wiki.";
const MAY_NOT_PUSH: &str = "You are not allowed to push to this wiki.";

/// The address of the project's wiki where `url` is the project's.
fn wiki_of(url: &str) -> String {
    url.replace("work.git", "work.wiki.git")
}

/// A forge with one page in the wiki of its project, and a copy of the wiki.
async fn with_page(visibility: Visibility) -> (Forge, Client) {
    let (forge, client) = (Forge::of(visibility), Client::with_commit().await);
    client.git(&["remote", "add", "origin", &wiki_of(&forge.url())]).await.ok();
    client.commit_file("home.md", b"Welcome", "Begin").await;
    client.run("push -q origin main").await.ok();
    (forge, client)
}

async fn clone(url: &str) -> (Client, super::GitOutput) {
    let copy = Client::new();
    let said = copy.git(&["clone", "-q", url, "."]).await;
    (copy, said)
}

/// The sizes that owners are told.
async fn statistics(forge: &Forge) -> Value {
    let alice = forge.app.person("alice");
    let path = format!("/projects/{}?statistics=true", forge.project);
    alice.get(&path).await.ok()["statistics"].clone()
}

#[actix_web::test]
async fn what_is_pushed_to_a_wiki_is_cloned_from_it() {
    let (forge, client) = with_page(Private).await;

    let (copy, said) = clone(&wiki_of(&forge.url())).await;

    said.ok();
    assert_eq!(copy.run("rev-parse HEAD").await.ok(), client.run("rev-parse main").await.ok());
    assert_eq!(std::fs::read(copy.path().join("home.md")).unwrap(), b"Welcome");
    copy.commit_file("home.md", b"Hello", "Change").await;
    copy.run("push -q").await.ok();
    client.run("fetch -q origin").await.ok();
    assert_eq!(client.run("show origin/main:home.md").await.ok(), "Hello");
}

#[actix_web::test]
async fn a_wiki_and_the_code_are_two_repositories() {
    let (forge, _) = with_page(Private).await;

    assert_eq!(forge.stored("for-each-ref").await, "");
    assert!(forge.events().is_empty());
    assert_eq!(forge.default_branch(), None);
}

#[actix_web::test]
async fn a_wiki_that_nobody_has_written_is_cloned_empty() {
    let app = TestApp::new();
    let branch = json!({ "default_branch_name": "trunk" });
    app.admin().put("/application/settings", branch).await.ok();
    let forge = Forge::on(app, Public);
    let wiki = Wiki::Project(forge.project);

    let (reader, said) = clone(&wiki_of(&forge.url_with(""))).await;

    said.ok();
    assert_eq!(reader.run("symbolic-ref HEAD").await.ok(), "refs/heads/trunk");
    assert!(!forge.app.state.storage.wiki_exists(wiki), "whoever only reads makes nothing");
    let writer = Client::with_commit().await;
    writer.commit_file("home.md", b"Welcome", "Begin").await;
    writer.git(&["push", "-q", &wiki_of(&forge.url()), "main:trunk"]).await.ok();
    reader.run("pull -q").await.ok();
    assert_eq!(std::fs::read(reader.path().join("home.md")).unwrap(), b"Welcome");
}

#[actix_web::test]
async fn a_writer_s_clone_makes_the_wiki() {
    let forge = Forge::new();

    let (copy, said) = clone(&wiki_of(&forge.url())).await;

    said.ok();
    assert_eq!(copy.run("symbolic-ref HEAD").await.ok(), "refs/heads/main");
    assert!(forge.app.state.storage.wiki_exists(Wiki::Project(forge.project)));
}

#[actix_web::test]
async fn a_wiki_opens_with_the_branch_that_was_pushed_first() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let url = wiki_of(&forge.url());

    client.git(&["push", "-q", &url, "main:master"]).await.ok();
    client.git(&["push", "-q", &url, "main:other"]).await.ok();

    let (copy, said) = clone(&url).await;
    said.ok();
    assert_eq!(copy.run("symbolic-ref HEAD").await.ok(), "refs/heads/master");
}

#[actix_web::test]
async fn guests_read_a_private_wiki_and_developers_write_it() {
    let (forge, client) = with_page(Private).await;
    for (level, writes) in [(Guest, false), (Reporter, false), (Developer, true)] {
        let url = wiki_of(&forge.url_of_member(level));

        clone(&url).await.1.ok();

        let pushed = client.git(&["push", &url, &format!("main:by-{}", level.number())]).await;
        if writes {
            pushed.ok();
        } else {
            pushed.told(MAY_NOT_PUSH);
        }
    }
    let (copy, _) = clone(&wiki_of(&forge.url())).await;
    assert_eq!(copy.run("branch -r --list origin/by*").await.ok().trim(), "origin/by-30");
}

#[actix_web::test]
async fn strangers_are_told_nothing_of_a_private_wiki() {
    let (forge, client) = with_page(Private).await;
    let stranger = forge.url_of(&NewUser::named("eve"), &[Scope::Api]);
    for url in [wiki_of(&stranger), stranger.replace("alice/work.git", "alice/none.wiki.git")] {
        clone(&url).await.1.told(NO_WIKI);
        client.git(&["push", &url, "main"]).await.told(NO_WIKI);
    }

    let complaint = clone(&wiki_of(&forge.url_with(""))).await.1.refused();

    assert!(complaint.contains("could not read Username"), "{complaint}");
}

#[actix_web::test]
async fn anybody_clones_a_public_wiki_and_only_members_push() {
    let (forge, client) = with_page(Public).await;
    let open = wiki_of(&forge.url_with(""));

    clone(&open).await.1.ok();

    let complaint = client.git(&["push", &open, "main:x"]).await.refused();
    assert!(complaint.contains("could not read Username"), "{complaint}");
    let stranger = wiki_of(&forge.url_of(&NewUser::named("eve"), &[Scope::Api]));
    client.git(&["push", &stranger, "main:x"]).await.told(MAY_NOT_PUSH);
}

#[actix_web::test]
async fn a_wiki_that_is_off_or_kept_to_members_is_not_read_by_others() {
    let (forge, client) = with_page(Public).await;
    let alice = forge.app.person("alice");
    let settings = format!("/projects/{}", forge.project);
    let guest = wiki_of(&forge.url_of_member(Guest));
    let stranger = wiki_of(&forge.url_of(&NewUser::named("eve"), &[Scope::Api]));

    alice.put(&settings, json!({ "wiki_access_level": "private" })).await.ok();
    clone(&guest).await.1.ok();
    clone(&stranger).await.1.told(MAY_NOT_READ);

    alice.put(&settings, json!({ "wiki_access_level": "disabled" })).await.ok();
    clone(&guest).await.1.told(MAY_NOT_READ);
    client.run("push origin main:x").await.told(MAY_NOT_READ);
}

#[actix_web::test]
async fn an_archived_project_s_wiki_is_only_read() {
    let (forge, client) = with_page(Private).await;
    let alice = forge.app.person("alice");
    alice.post(&format!("/projects/{}/archive", forge.project), json!({})).await.created();

    clone(&wiki_of(&forge.url())).await.1.ok();

    client
        .run("push origin main:x")
        .await
        .told("This project is archived: it can be read, but nothing can be pushed to it.");
}

#[actix_web::test]
async fn a_token_needs_the_scope_for_what_it_does() {
    let (forge, client) = with_page(Private).await;
    let alice = NewUser::named("alice");
    let reads = wiki_of(&forge.url_of(&alice, &[Scope::ReadRepository]));

    clone(&reads).await.1.ok();

    client
        .git(&["push", &reads, "main:x"])
        .await
        .told("This access token lacks the scope write_repository, which is needed here.");
}

#[actix_web::test]
async fn neither_protection_nor_push_rules_reach_a_wiki() {
    let (forge, client) = with_page(Private).await;
    let alice = forge.app.person("alice");
    let project = format!("/projects/{}", forge.project);
    let rule = json!({ "commit_message_regex": "^never" });
    alice.post(&format!("{project}/push_rule"), rule).await.created();
    let branch = json!({ "name": "*", "push_access_level": 0 });
    alice.post(&format!("{project}/protected_branches"), branch).await.created();

    client.run("commit -q --amend -m other").await.ok();
    client.run("push -q --force origin main").await.ok();
    client.run("push -q origin main:gone").await.ok();
    client.run("push -q origin :gone").await.ok();

    let (copy, _) = clone(&wiki_of(&forge.url())).await;
    assert_eq!(copy.run("log --format=%s -1").await.ok(), "other");
}

#[actix_web::test]
async fn what_cannot_be_pushed_to_projects_cannot_be_pushed_to_wikis() {
    let app = TestApp::with_limits(Limits { object: 1_000_000, ..Limits::default() });
    let (forge, client) = (Forge::on(app, Private), Client::with_commit().await);
    let url = wiki_of(&forge.url());

    client
        .git(&["push", &url, "main:refs/secret/x"])
        .await
        .told("GitLab: refs/secret/x cannot be pushed: only branches, tags and notes can.");
    client.commit_file("zeros", &vec![0; 2_000_000], "zeros").await;
    let id = client.run("rev-parse HEAD:zeros").await.ok();
    client.git(&["push", &url, "main"]).await.told(&format!(
        "GitLab: The object {id} is 2000000 bytes large; up to 1000000 bytes are allowed."
    ));

    let (copy, _) = clone(&url).await;
    assert_eq!(copy.run("branch -r").await.ok(), "");
}

#[actix_web::test]
async fn a_project_with_the_name_of_a_wiki_comes_first() {
    let (forge, client) = with_page(Private).await;
    let alice = forge.app.person("alice");
    let other = forge.app.project(&alice, "work.wiki", Private);

    client.run("push -q origin main:x").await.ok();

    let repo = forge.app.state.storage.repository(other);
    assert!(repo.as_path().join("refs/heads/x").is_file());
}

#[actix_web::test]
async fn a_push_to_a_wiki_tells_its_size_and_that_the_project_is_in_use() {
    let (forge, client) = with_page(Private).await;
    let before = statistics(&forge).await;
    let activity = || async {
        let path = format!("/projects/{}", forge.project);
        forge.app.person("alice").get(&path).await.ok()["last_activity_at"].clone()
    };
    let then = activity().await;
    forge.app.clock.advance(time::Duration::hours(1));

    client.commit_file("noise", &super::noise(300_000), "noise").await;
    client.run("push -q origin main").await.ok();

    let after = statistics(&forge).await;
    let size = |of: &Value, name: &str| of[name].as_i64().unwrap();
    assert!(size(&before, "wiki_size") > 0, "{before}");
    assert!(size(&after, "wiki_size") - size(&before, "wiki_size") > 250_000, "{after}");
    assert_eq!(size(&after, "repository_size"), size(&before, "repository_size"));
    let both = size(&after, "repository_size") + size(&after, "wiki_size");
    assert_eq!(size(&after, "storage_size"), both);
    assert_ne!(activity().await, then);
}

#[actix_web::test]
async fn pages_that_are_pushed_are_in_the_feed() {
    let (forge, client) = with_page(Private).await;
    client.commit_file("home.md", b"Hello", "Change").await;
    client.commit_file("green-tea.md", b"hot", "Add").await;
    client.commit_file("cup.png", b"no page", "Show").await;
    client.run("push -q origin main").await.ok();
    client.run("rm -q green-tea.md").await.ok();
    client.run("commit -q -m Remove").await.ok();
    client.run("push -q origin main").await.ok();

    let feed = format!("/projects/{}/events", forge.project);
    let told = forge.app.person("alice").get(&feed).await.ok();

    let told: Vec<(&Value, &Value)> = told
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["target_type"] == "WikiPage::Meta")
        .map(|event| (&event["action_name"], &event["wiki_page"]["slug"]))
        .collect();
    let told = serde_json::to_value(told).unwrap();
    let wanted = json!([
        ["destroyed", "green-tea"],
        ["updated", "home"],
        ["created", "green-tea"],
        ["created", "home"]
    ]);
    assert_eq!(told, wanted);
}

#[actix_web::test]
async fn the_care_for_a_wiki_measures_it_again() {
    let (forge, _) = with_page(Private).await;
    let project = forge.project;
    forge.app.write(move |tx| {
        org::project::statistics::StatisticsStore::record_wiki_size(tx, project, 1)
    });
    forge.app.clock.advance(time::Duration::minutes(1));

    forge.app.work().await;

    assert!(statistics(&forge).await["wiki_size"].as_i64().unwrap() > 1_000);
    let graphs = forge.app.state.storage.wiki(Wiki::Project(project));
    assert!(graphs.as_path().join("objects/info/commit-graphs").is_dir());
}

#[actix_web::test]
async fn groups_have_wikis_too() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let alice = forge.app.person("alice");
    let group = alice.group("makers", None).await;
    let url = forge.at(&format!("alice:{}@", secret(&alice)), "makers.wiki.git");

    client.git(&["push", "-q", &url, "main"]).await.ok();

    clone(&url).await.1.ok();
    assert!(forge.app.state.storage.wiki_exists(Wiki::Group(NamespaceId(group))));
    alice.adds("gus", 10, &format!("/groups/{group}")).await;
    let guest = forge.url_of(&NewUser::named("gus"), &[Scope::Api]);
    let guest = guest.replace("alice/work.git", "makers.wiki.git");
    clone(&guest).await.1.ok();
    client.git(&["push", &guest, "main:x"]).await.told(MAY_NOT_PUSH);
    let stranger = forge.url_of(&NewUser::named("eve"), &[Scope::Api]);
    clone(&stranger.replace("alice/work.git", "makers.wiki.git")).await.1.told(NO_WIKI);
    let anonymous = clone(&forge.at("", "makers.wiki.git")).await.1.refused();
    assert!(anonymous.contains("could not read Username"), "{anonymous}");
    let own = clone(&stranger.replace("alice/work.git", "alice.wiki.git")).await.1;
    own.told(NO_WIKI);
}

#[actix_web::test]
async fn a_group_keeps_its_wiki_to_members_or_switches_it_off() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let alice = forge.app.person("alice");
    let group = alice.group_with("makers", json!({ "visibility": "public" })).await;
    let url = forge.at(&format!("alice:{}@", secret(&alice)), "makers.wiki.git");
    client.git(&["push", "-q", &url, "main"]).await.ok();
    let stranger = forge.url_of(&NewUser::named("eve"), &[Scope::Api]);
    let stranger = stranger.replace("alice/work.git", "makers.wiki.git");
    clone(&forge.at("", "makers.wiki.git")).await.1.ok();
    let settings = format!("/groups/{group}");

    alice.put(&settings, json!({ "wiki_access_level": "private" })).await.ok();
    clone(&stranger).await.1.told(MAY_NOT_READ);
    clone(&url).await.1.ok();

    alice.put(&settings, json!({ "wiki_access_level": "disabled" })).await.ok();
    clone(&url).await.1.told(MAY_NOT_READ);
}

#[actix_web::test]
async fn a_group_s_statistics_count_its_own_wiki_and_those_of_its_projects() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let alice = forge.app.person("alice");
    let group = alice.group("makers", None).await;
    let project = json!({ "name": "tool", "namespace_id": group });
    alice.post("/projects", project).await.created();
    let size = || async {
        let path = "/groups?statistics=true&search=makers";
        let listed = forge.app.admin().get(path).await.ok();
        listed[0]["statistics"]["wiki_size"].as_i64().unwrap()
    };
    assert_eq!(size().await, 0);
    let at = |path: &str| forge.at(&format!("alice:{}@", secret(&alice)), path);

    client.git(&["push", "-q", &at("makers.wiki.git"), "main"]).await.ok();
    let own = size().await;
    client.git(&["push", "-q", &at("makers/tool.wiki.git"), "main"]).await.ok();

    assert!(own > 0);
    assert!(size().await > own);
}

#[actix_web::test]
async fn wikis_go_with_their_projects_and_groups() {
    let (forge, client) = with_page(Private).await;
    let alice = forge.app.person("alice");
    let group = alice.group("makers", None).await;
    let url = forge.at(&format!("alice:{}@", secret(&alice)), "makers.wiki.git");
    client.git(&["push", "-q", &url, "main"]).await.ok();
    let wikis = [Wiki::Project(forge.project), Wiki::Group(NamespaceId(group))];
    let there = || wikis.map(|wiki| forge.app.state.storage.wiki_exists(wiki));
    assert_eq!(there(), [true, true]);
    alice.delete(&format!("/projects/{}", forge.project)).await.with(202);
    alice.delete(&format!("/groups/{group}")).await.with(202);

    forge::purge::run(&forge.app.state, PurgeDeletions {}).await.unwrap();

    assert_eq!(there(), [false, false]);
    client.run("push origin main").await.told(NO_WIKI);
}

#[actix_web::test]
async fn a_push_announces_each_page_that_it_changed() {
    let (forge, client) = with_page(Private).await;
    let changes = |app: &TestApp| -> Vec<(String, String)> {
        let told = app.announced().into_iter().filter(|(kind, _)| kind == "wiki.changed");
        let read = |text: String| -> Value { serde_json::from_str(&text).expect("JSON") };
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        told.map(|(_, text)| read(text))
            .map(|fact| (word(&fact["action"]), word(&fact["path"])))
            .collect()
    };
    let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
    };
    assert_eq!(changes(&forge.app), pairs(&[("create", "home.md")]));

    client.commit_file("home.md", b"Hello", "Change").await;
    client.commit_file("guide.md", b"So", "Add").await;
    client.commit_file("picture.png", b"\0", "No page").await;
    client.run("push -q origin main").await.ok();
    assert_eq!(changes(&forge.app), pairs(&[("create", "guide.md"), ("update", "home.md")]));
    client.run("mv guide.md help.md").await.ok();
    client.run("rm -q home.md").await.ok();
    client.run("commit -q -m Away").await.ok();
    client.run("push -q origin main").await.ok();
    assert_eq!(changes(&forge.app), pairs(&[("update", "help.md"), ("delete", "home.md")]));
    client.run("push -q origin main:aside").await.ok();
    assert!(changes(&forge.app).is_empty(), "pages are read from one branch");
}

#[actix_web::test]
async fn a_push_leaves_nothing_open() {
    use repo::wiki::journal::WikiJournal;
    let (forge, client) = with_page(Private).await;
    client.run("push -q origin main:aside").await.ok();
    client.run("push -q origin :aside").await.ok();

    let (rows, open) = forge.app.write(|tx| Ok((tx.all_wiki_refs()?, tx.open_wiki_moves()?.len())));

    let places: Vec<_> =
        rows.iter().map(|row| (row.ref_name.as_str(), row.new_sha.is_some())).collect();
    assert_eq!(places, [("refs/heads/main", true), ("refs/heads/aside", false)]);
    assert_eq!(open, 0);
}
