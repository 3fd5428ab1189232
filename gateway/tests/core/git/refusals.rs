//! Refs that may not move, and the sentences that say so.

use kernel::Visibility;
use serde_json::json;

use super::Forge;

#[actix_web::test]
async fn the_default_branch_cannot_be_deleted() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;

    client
        .run("push origin :main")
        .await
        .told("GitLab: The default branch of a project cannot be deleted.");

    assert_eq!(forge.events().len(), 1);
    assert!(!forge.stored("rev-parse main").await.is_empty());
}

#[actix_web::test]
async fn a_protected_branch_says_no_in_the_words_of_its_rule() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let alice = forge.app.person("alice");
    let rules = format!("/projects/{}/protected_branches", forge.project);
    alice.post(&rules, json!({ "name": "stable*", "push_access_level": 0 })).await.created();
    alice.post(&rules, json!({ "name": "kept", "allow_force_push": false })).await.created();
    client.run("push -q origin main:kept").await.ok();
    let before = forge.events().len();
    client.run("commit -q --amend -m other").await.ok();

    for (refspec, sentence) in [
        (
            "main:stable-1",
            "GitLab: You can only use an existing protected branch ref as the basis of a new protected branch.",
        ),
        (
            "+main:kept",
            "GitLab: You are not allowed to force push code to a protected branch on this project.",
        ),
        (":kept", "GitLab: You can only delete protected branches using the web interface."),
    ] {
        client.git(&["push", "origin", refspec]).await.told(sentence);
    }
    assert_eq!(forge.events().len(), before);
}

#[actix_web::test]
async fn names_that_confuse_are_refused() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let hex = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    for (name, sentence) in [
        (
            "refs/heads/-x".to_owned(),
            "GitLab: refs/heads/-x is not a valid name. Please choose another one.",
        ),
        (
            "refs/heads/HEAD".to_owned(),
            "GitLab: refs/heads/HEAD is not a valid name. Please choose another one.",
        ),
        (
            format!("refs/heads/{hex}"),
            "GitLab: You cannot create a branch with a 40-character hexadecimal branch name.",
        ),
        (
            "refs/secret/x".to_owned(),
            "GitLab: refs/secret/x cannot be pushed: only branches, tags and notes can.",
        ),
    ] {
        client.git(&["push", "origin", &format!("main:{name}")]).await.told(sentence);
    }
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn names_that_are_not_utf8_are_refused() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let tip = client.run("rev-parse main").await.ok();
    let packed = [b"# pack-refs with: \n", tip.as_bytes(), b" refs/heads/caf\xe9\n"].concat();
    std::fs::write(client.path().join(".git/packed-refs"), packed).unwrap();

    let complaint = client.run("push origin --all").await.refused();

    assert!(complaint.contains("is not valid UTF-8"), "{complaint}");
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn hidden_refs_cannot_be_pushed() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;

    for name in ["refs/keep-around/x", "refs/merge-requests/1/head"] {
        let complaint = client.git(&["push", "origin", &format!("main:{name}")]).await.refused();
        assert!(complaint.contains("remote rejected"), "{complaint}");
    }

    assert_eq!(forge.stored("for-each-ref --format=%(refname)").await, "refs/heads/main");
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn a_refused_ref_keeps_nothing_else_back() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let rules = format!("/projects/{}/protected_branches", forge.project);
    let stable = json!({ "name": "stable", "push_access_level": 0 });
    forge.app.person("alice").post(&rules, stable).await.created();

    let refs = "main:good main:refs/heads/-bad main:stable main:refs/pull/1/head main:fine";
    let complaint = client.run(&format!("push origin {refs}")).await.refused();

    for said in [
        "-bad (pre-receive hook declined)",
        "stable (pre-receive hook declined)",
        "refs/pull/1/head (deny updating a hidden ref)",
        "GitLab: refs/heads/-bad is not a valid name.",
    ] {
        assert!(complaint.contains(said), "{said}: {complaint}");
    }
    assert_eq!(
        forge.stored("for-each-ref --format=%(refname)").await,
        "refs/heads/fine\nrefs/heads/good\nrefs/heads/main"
    );
    assert_eq!(forge.events().len(), 3);
}

#[actix_web::test]
async fn an_atomic_push_is_refused_with_any_of_its_refs() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;

    for bad in ["main:refs/heads/-bad", "main:refs/pull/1/head", "main:refs/merge-requests/1/head"]
    {
        client.git(&["push", "--atomic", "origin", "main:good", bad]).await.refused();
    }

    assert_eq!(forge.stored("for-each-ref --format=%(refname)").await, "refs/heads/main");
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn a_branch_names_a_commit() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("tag -a -m heavy heavy").await.ok();

    let complaint = client.run("push origin heavy:refs/heads/tagged heavy").await.refused();

    assert!(complaint.contains("refs/heads/tagged can only name a commit."), "{complaint}");
    assert_eq!(forge.happened()[1..], ["created refs/tags/heavy"]);
}

#[actix_web::test]
async fn files_outside_of_their_tree_are_refused() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    std::fs::write(client.path().join("tree"), b"").unwrap();
    let blob = client.run("hash-object -w tree").await.ok();
    let bytes = [b"100644 ../../../evil\0".to_vec(), hex::decode(blob).unwrap()].concat();
    std::fs::write(client.path().join("tree"), bytes).unwrap();
    let tree = client.run("hash-object -t tree -w --literally tree").await.ok();
    let commit = client.run(&format!("commit-tree -m bad {tree}")).await.ok();

    let complaint =
        client.git(&["push", "origin", &format!("{commit}:refs/heads/bad")]).await.refused();

    assert!(complaint.contains("fullPathname"), "{complaint}");
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn a_branch_below_another_branch_is_refused() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("push -q origin main:topic").await.ok();

    client.run("push origin main:topic/deeper").await.refused();

    assert_eq!(forge.events().len(), 2);
    assert_eq!(
        forge.stored("for-each-ref --format=%(refname)").await,
        "refs/heads/main\nrefs/heads/topic"
    );
}

#[actix_web::test]
async fn a_refused_push_leaves_nothing_behind() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let before = forge.stored("count-objects").await;
    client.commit("more").await;

    client.run("push origin main:refs/heads/-x").await.refused();

    assert_eq!(forge.stored("count-objects").await, before);
}

#[actix_web::test]
async fn broken_objects_are_refused() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    std::fs::write(client.path().join("tree"), b"").unwrap();
    let blob = client.run("hash-object -w tree").await.ok();
    let bytes = [b"100644 .git\0".to_vec(), hex::decode(blob).unwrap()].concat();
    std::fs::write(client.path().join("tree"), bytes).unwrap();
    let tree = client.run("hash-object -t tree -w --literally tree").await.ok();
    let commit = client.run(&format!("commit-tree -m bad {tree}")).await.ok();

    let complaint =
        client.git(&["push", "origin", &format!("{commit}:refs/heads/bad")]).await.refused();

    assert!(complaint.contains("hasDotgit"), "{complaint}");
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn flaws_of_old_histories_are_let_through() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let tree = client.run("rev-parse main^{tree}").await.ok();
    let old = format!(
        "tree {tree}\nauthor A <a@example.com> 1000 +051800\ncommitter A <a@example.com>1000 +0000\n\nold\n"
    );
    std::fs::write(client.path().join("commit"), old).unwrap();
    let commit = client.run("hash-object -t commit -w --literally commit").await.ok();

    client.git(&["push", "origin", &format!("{commit}:refs/heads/old")]).await.ok();

    assert_eq!(forge.events().len(), 2);
}

#[actix_web::test]
async fn whoever_never_asked_the_server_gets_no_answer_from_its_hooks() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let hooks = forge.app.state.data().join("hooks");
    let repo = forge.app.state.storage.repository(forge.project);
    let forged = [
        ("FORGEWAY_HOOK_SOCKET", hooks.join("socket").to_str().unwrap().to_owned()),
        ("FORGEWAY_HOOK_IDENTITY", "e30.e30.e30".to_owned()),
    ];
    let environment: Vec<(&str, &str)> =
        forged.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let receive = format!(
        "--receive-pack=git -c receive.procReceiveRefs=refs -c core.hooksPath={} receive-pack",
        hooks.display()
    );
    let folder = repo.as_path().display().to_string();

    let words = ["push", &receive, &folder, "main:sly"];
    let complaint = client.git_with(&words, &environment).await.refused();

    assert!(complaint.contains("This push is over."), "{complaint}");
    assert_eq!(forge.stored("for-each-ref --format=%(refname)").await, "refs/heads/main");
    assert_eq!(forge.events().len(), 1);
}
