//! Pushes that succeed, and the rows they leave.

use kernel::{AccessLevel, Visibility};
use repo::push::{Journal, replay};

use super::{Client, Forge};

#[actix_web::test]
async fn the_first_push_fills_the_repository_and_names_the_default_branch() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let tip = client.commit("second").await;

    client.git(&["push", &forge.url(), "main"]).await.ok();

    assert_eq!(forge.stored("rev-parse refs/heads/main").await, tip);
    assert_eq!(forge.default_branch().as_deref(), Some("main"));
    let events = forge.events();
    assert_eq!(forge.happened(), ["created refs/heads/main"]);
    assert_eq!(events[0].commit_count, 2);
    assert_eq!(events[0].commit_title.as_deref(), Some("second"));
    assert_eq!(events[0].user_id, Some(forge.app.user("alice").id));
}

#[actix_web::test]
async fn what_was_pushed_is_there_when_git_returns() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let alice = forge.app.person("alice");

    client.git(&["push", &forge.url(), "main"]).await.ok();

    let path = format!("/projects/{}/repository/commits/main", forge.project);
    let shown = alice.get(&path).await.ok();
    assert_eq!(shown["id"].as_str(), Some(&*client.run("rev-parse main").await.ok()));
}

#[actix_web::test]
async fn without_the_usual_names_the_first_branch_becomes_the_default() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);

    client.git(&["push", &forge.url(), "main:trunk", "main:zebra", "main:refs/tags/v1"]).await.ok();

    assert_eq!(forge.default_branch().as_deref(), Some("trunk"));
    assert_eq!(forge.head().to_string(), "refs/heads/trunk");
}

#[actix_web::test]
async fn master_is_preferred_to_other_branches() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);

    client.git(&["push", &forge.url(), "main:a", "main:master", "main:z"]).await.ok();

    assert_eq!(forge.default_branch().as_deref(), Some("master"));
    assert_eq!(forge.head().to_string(), "refs/heads/master");
}

#[actix_web::test]
async fn several_refs_of_one_push_are_one_event_each() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    client.run("branch topic").await.ok();
    client.run("tag light").await.ok();
    client.run("tag -a -m heavy heavy").await.ok();

    client.git(&["push", &forge.url(), "main", "topic", "light", "heavy"]).await.ok();

    let mut happened = forge.happened();
    happened.sort();
    assert_eq!(
        happened,
        [
            "created refs/heads/main",
            "created refs/heads/topic",
            "created refs/tags/heavy",
            "created refs/tags/light"
        ]
    );
    let topic = forge.events().into_iter().find(|event| event.ref_name == "refs/heads/topic");
    assert_eq!(topic.map(|event| event.commit_count), Some(0));
}

#[actix_web::test]
async fn branches_are_forced_and_deleted() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("push -q origin main:topic").await.ok();
    client.run("commit -q --amend -m other").await.ok();

    assert!(client.run("push origin main:topic").await.refused().contains("non-fast-forward"));
    client.run("push -q --force origin main:topic").await.ok();
    client.run("push -q origin :topic").await.ok();

    assert_eq!(
        forge.happened()[1..],
        ["created refs/heads/topic", "pushed refs/heads/topic", "removed refs/heads/topic"]
    );
    assert_eq!(forge.stored("for-each-ref --format=%(refname)").await, "refs/heads/main");
}

#[actix_web::test]
async fn packed_refs_move_and_go_too() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("push -q origin main:topic").await.ok();
    forge.stored("pack-refs --all").await;
    let tip = client.commit("second").await;

    client.run("push -q origin main").await.ok();
    client.run("push -q origin :topic").await.ok();

    assert_eq!(forge.stored("for-each-ref --format=%(objectname)").await, tip);
    assert_eq!(forge.events().len(), 4);
}

#[actix_web::test]
async fn an_atomic_push_moves_all_refs_or_none() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let other = Client::new();
    other.git(&["clone", "-q", &forge.url(), "."]).await.ok();
    other.commit("theirs").await;
    other.run("push -q origin main").await.ok();
    client.commit("ours").await;

    client.run("push --atomic --force-with-lease origin main main:new").await.refused();
    client.run("push -q --atomic origin main:new main:newer").await.ok();

    assert_eq!(
        forge.happened()[1..],
        ["pushed refs/heads/main", "created refs/heads/new", "created refs/heads/newer"]
    );
}

#[actix_web::test]
async fn of_two_pushes_at_once_one_wins_and_only_it_is_noted() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let other = Client::new();
    other.git(&["clone", "-q", &forge.url(), "."]).await.ok();
    for round in 0..3 {
        client.run("fetch -q origin").await.ok();
        client.run("reset -q --hard origin/main").await.ok();
        other.run("fetch -q origin").await.ok();
        other.run("reset -q --hard origin/main").await.ok();
        let ours = client.commit(&format!("ours {round}")).await;
        let theirs = other.commit(&format!("theirs {round}")).await;

        let (one, two) =
            tokio::join!(client.run("push origin main"), other.run("push origin main"));

        assert!(one.went_well() != two.went_well(), "{} {}", one.complaint(), two.complaint());
        let winner = if one.went_well() { ours } else { theirs };
        assert_eq!(forge.stored("rev-parse main").await, winner);
        let last = forge.events().pop();
        assert_eq!(last.and_then(|event| event.after_sha), Some(winner));
        assert_eq!(forge.events().len(), round + 2);
    }
}

#[actix_web::test]
async fn a_push_makes_the_project_that_is_not_there() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let alice = forge.app.person("alice");
    let credentials = format!("alice:{}@", super::forge::secret(&alice));

    client.git(&["push", &forge.at(&credentials, "alice/brand-new.git"), "main"]).await.ok();

    let made = alice.get("/projects/alice%2Fbrand-new/repository/commits").await.each("title");
    assert_eq!(made, ["first"]);
    client
        .git(&["push", &forge.at(&credentials, "bob/brand-new.git"), "main"])
        .await
        .told("There is no such project, or you may not see it.");
}

#[actix_web::test]
async fn a_push_that_brings_nothing_makes_no_project() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let alice = forge.app.person("alice");
    let credentials = format!("alice:{}@", super::forge::secret(&alice));
    let url = forge.at(&credentials, "alice/unmade.git");
    let commit = client.run("rev-parse main").await.ok();

    let complaint = client.git(&["push", &url, "main:refs/pull/1/head"]).await.refused();
    assert!(complaint.contains("deny updating a hidden ref"), "{complaint}");
    client.git(&["push", &url, "main:refs/heads/-x"]).await.refused();
    // What is refused only after it has arrived: a branch that names no commit.
    client.run("tag -a -m heavy heavy").await.ok();
    client.git(&["push", &url, "heavy:refs/heads/tagged"]).await.refused();

    assert_eq!(alice.get("/projects/alice%2Funmade").await.status, 404);
    client.git(&["push", &url, "main"]).await.ok();
    let made = alice.get("/projects/alice%2Funmade/repository/commits").await.each("id");
    assert_eq!(made, [commit]);
}

#[actix_web::test]
async fn a_mirror_brings_its_branches_and_tags() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    client.run("branch topic").await.ok();
    client.run("tag light").await.ok();
    for name in ["refs/pull/1/head", "refs/remotes/origin/main", "refs/keep-around/x"] {
        client.git(&["update-ref", name, "main"]).await.ok();
    }

    let complaint = client.git(&["push", "--mirror", &forge.url()]).await.refused();

    assert_eq!(complaint.matches("[remote rejected]").count(), 3, "{complaint}");
    assert_eq!(
        forge.stored("for-each-ref --format=%(refname)").await,
        "refs/heads/main\nrefs/heads/topic\nrefs/tags/light"
    );
    assert_eq!(forge.default_branch().as_deref(), Some("main"));
}

#[actix_web::test]
async fn a_push_of_many_refs_is_one_push() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let tip = client.run("rev-parse main").await.ok();
    let lines: String =
        (0..300).map(|number| format!("create refs/tags/v{number:03} {tip}\n")).collect();
    std::fs::write(client.path().join("refs"), lines).unwrap();
    let fill = ["-c", "alias.fill=!git update-ref --stdin < refs", "fill"];
    client.git(&fill).await.ok();

    client.run("push -q origin --tags").await.ok();

    assert_eq!(forge.stored("tag").await.lines().count(), 300);
    assert_eq!(forge.events().len(), 301);
    client.run("push -q origin --delete v000 v001").await.ok();
    assert_eq!(forge.stored("tag").await.lines().count(), 298);
}

#[actix_web::test]
async fn a_shallow_clone_can_push_what_it_added() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.commit("second").await;
    client.run("push -q origin main").await.ok();
    let shallow = Client::new();
    shallow.git(&["clone", "-q", "--depth=1", &forge.url(), "."]).await.ok();
    let tip = shallow.commit("third").await;

    shallow.run("push -q origin main").await.ok();

    assert_eq!(forge.stored("rev-parse main").await, tip);
    assert_eq!(forge.events().pop().map(|event| event.commit_count), Some(1));
    forge.stored("fsck --strict").await;
}

#[actix_web::test]
async fn notes_can_be_pushed() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("notes add -m seen").await.ok();

    client.run("push -q origin refs/notes/commits").await.ok();

    assert_eq!(forge.happened()[1..], ["created refs/notes/commits"]);
}

#[actix_web::test]
async fn the_record_tells_of_a_push_when_git_returns() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let alice = forge.app.person("alice");
    client.commit_file("README.md", b"# Work", "readme").await;
    client.commit_file("main.rs", b"fn main() {}", "code").await;

    client.run("push -q origin main").await.ok();

    let path = format!("/projects/{}", forge.project);
    let record = alice.get(&format!("{path}?statistics=true")).await.ok();
    let readme = record["readme_url"].as_str().unwrap_or_default();
    assert!(readme.ends_with("/alice/work/-/blob/main/README.md"), "{readme}");
    assert_eq!(record["statistics"]["commit_count"], 3);
    assert!(record["statistics"]["repository_size"].as_i64() > Some(0));
    let rust = alice.get("/projects?with_programming_language=Rust").await.ok();
    assert_eq!(rust[0]["id"], forge.project.0);
}

#[actix_web::test]
async fn the_record_follows_a_forced_push() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let alice = forge.app.person("alice");
    client.commit_file("main.rs", b"fn main() {}", "code").await;
    client.run("push -q origin main").await.ok();
    let path = format!("/projects/{}", forge.project);
    let rules = format!("{path}/protected_branches/main");
    alice.patch(&rules, serde_json::json!({ "allow_force_push": true })).await.ok();
    client.run("reset -q --hard HEAD~1").await.ok();

    client.run("push -q --force origin main").await.ok();

    let record = alice.get(&format!("{path}?statistics=true")).await.ok();
    assert_eq!(record["statistics"]["commit_count"], 1);
    assert_eq!(alice.get(&format!("{path}/languages")).await.ok(), serde_json::json!({}));
    let rust = alice.get("/projects?with_programming_language=Rust").await.ok();
    assert_eq!(rust, serde_json::json!([]));
}

#[actix_web::test]
async fn what_a_killed_process_left_locked_holds_nobody_up() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let repo = forge.app.state.storage.repository(forge.project);
    for name in ["refs/heads/main.lock", "refs/tags/v1.lock", "packed-refs.lock", "HEAD.lock"] {
        std::fs::create_dir_all(repo.as_path().join("refs/tags")).unwrap();
        std::fs::write(repo.as_path().join(name), "").unwrap();
    }
    let tip = client.commit("second").await;
    client.run("push -q origin main:old").await.ok();

    client.run("push -q origin main main:refs/tags/v1 :old").await.ok();

    assert_eq!(forge.stored("rev-parse main v1").await, format!("{tip}\n{tip}"));
    assert_eq!(forge.happened().len(), 5);
}

#[actix_web::test]
async fn what_was_decided_and_then_failed_is_carried_out_while_the_server_runs() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let first = client.run("rev-parse main").await.ok();
    let second = client.commit("second").await;
    client.run("push -q origin main").await.ok();
    let back = format!("update-ref refs/heads/main {first}");
    let state = &forge.app.state;
    let before = state.db.clock().now().plus(time::Duration::seconds(60));

    // A server that does not know that the refs have followed.
    forge.stored(&back).await;
    let lost = Journal::default();
    let moved = replay(&state.db, &state.storage, &lost, before).await.unwrap();
    assert_eq!((moved, forge.stored("rev-parse main").await), (1, second));

    // One that does leaves alone what somebody does by hand.
    client.commit("third").await;
    client.run("push -q origin main").await.ok();
    forge.stored(&back).await;
    let known = &state.journal;
    let moved = replay(&state.db, &state.storage, known, before).await.unwrap();
    assert_eq!((moved, forge.stored("rev-parse main").await), (0, first));
}

#[actix_web::test]
async fn refs_to_what_is_there_already_are_judged_too() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("tag v1").await.ok();
    client.run("push -q origin main:topic v1").await.ok();

    let complaint = client.run("push origin :main :topic main:refs/heads/-x").await.refused();

    assert!(complaint.contains("cannot be deleted"), "{complaint}");
    assert_eq!(complaint.matches("pre-receive hook declined").count(), 2, "{complaint}");
    let kept = "refs/heads/main\nrefs/tags/v1";
    assert_eq!(forge.stored("for-each-ref --format=%(refname)").await, kept);
    let reporter = forge.url_of_member(AccessLevel::Reporter);
    client.git(&["push", &reporter, ":v1"]).await.refused();
    assert_eq!(forge.happened().last().map(String::as_str), Some("removed refs/heads/topic"));
}

/// Puts another object in the place of one; both lie in files of their own.
fn damage(forge: &Forge, id: &str, other: &str) {
    let objects = forge.app.state.storage.repository(forge.project).as_path().join("objects");
    let file = |id: &str| objects.join(&id[..2]).join(&id[2..]);
    std::fs::remove_file(file(id)).expect("the object lies by itself");
    std::fs::copy(file(other), file(id)).expect("the other one, too");
}

#[actix_web::test]
async fn who_pushes_onto_a_damaged_commit_is_told_so() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let first = client.run("rev-parse main").await.ok();
    let tip = client.commit("second").await;
    client.run("push -q origin main").await.ok();
    damage(&forge, &tip, &first);
    client.commit("third").await;

    let complaint = client.run("push origin main").await.refused();

    assert!(complaint.contains("The newest commit of 'main' is damaged."), "{complaint}");
    assert!(!complaint.contains("Please try again"), "{complaint}");
}
