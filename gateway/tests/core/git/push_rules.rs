//! Push rules as git's user meets them: each sentence, and nothing moves.

use kernel::Visibility;
use serde_json::{Value, json};

use super::{Client, Forge, noise};

/// A project with this rule and a commit from before it was made.
async fn with_rule(rule: Value) -> (Forge, Client) {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let path = format!("/projects/{}/push_rule", forge.project);
    forge.app.person("alice").post(&path, rule).await.created();
    (forge, client)
}

/// Pushes what must be refused with this sentence; nothing may have moved.
async fn refused(rule: Value, client_does: &[&[&str]], refspec: &str, sentence: &str) {
    let (forge, client) = with_rule(rule).await;
    let before = forge.stored("for-each-ref").await;
    for words in client_does {
        client.git(words).await.ok();
    }
    client.git(&["push", "origin", refspec]).await.told(&format!("GitLab: {sentence}"));
    assert_eq!(forge.stored("for-each-ref").await, before);
    assert_eq!(forge.events().len(), 1);
}

const COMMIT: &[&[&str]] = &[&["commit", "-q", "--allow-empty", "-m", "second\n\nbody"]];

#[actix_web::test]
async fn messages_are_compared_with_both_patterns() {
    let rule = json!({ "commit_message_regex": "JIRA-\\d+" });
    let told = "Commit message does not follow the pattern 'JIRA-\\d+'";
    refused(rule, COMMIT, "main", told).await;
    let rule = json!({ "commit_message_negative_regex": "^body$" });
    let told = "Commit message contains the forbidden pattern '^body$'";
    refused(rule, COMMIT, "main", told).await;
}

#[actix_web::test]
async fn a_good_message_passes_and_old_commits_are_not_asked_after() {
    let (forge, client) = with_rule(json!({ "commit_message_regex": "JIRA-\\d+" })).await;

    client.run("push -q origin main:old-commit").await.ok();
    let tip = client.commit("JIRA-12 done").await;
    client.run("push -q origin main").await.ok();

    assert_eq!(forge.stored("rev-parse main").await, tip);
}

#[actix_web::test]
async fn every_new_commit_counts_not_only_the_last() {
    let (forge, client) = with_rule(json!({ "commit_message_regex": "JIRA" })).await;
    client.commit("no ticket").await;
    client.commit("JIRA-1").await;

    let told = "GitLab: Commit message does not follow the pattern 'JIRA'";
    client.run("push origin main").await.told(told);
    client.run("push origin main:refs/tags/smuggled").await.told(told);
    // Notes may hold anything, and make nothing known.
    client.run("push -q origin main:refs/notes/smuggled").await.ok();
    client.run("push origin main").await.told(told);
    // Neither does what the server keeps of them.
    let tip = client.run("rev-parse main").await.ok();
    forge.stored(&format!("update-ref refs/keep-around/{tip} {tip}")).await;
    client.run("push origin main").await.told(told);

    assert_eq!(
        forge.stored("for-each-ref --format=%(refname) refs/heads refs/tags").await,
        "refs/heads/main"
    );
}

#[actix_web::test]
async fn a_commit_that_was_refused_once_is_refused_again() {
    let (forge, _client) = with_rule(json!({ "commit_message_regex": "JIRA" })).await;
    let alice = forge.app.person("alice");
    let path = format!("/projects/{}/repository/commits", forge.project);
    let action = json!({ "action": "create", "file_path": "new", "content": "x" });
    let body = json!({ "branch": "main", "commit_message": "no", "actions": [action] });
    let told = "Commit message does not follow the pattern 'JIRA'";
    alice.post(&path, body).await.refused(400, json!({ "message": told }));

    // Its objects are left behind, and named by nothing.
    let left = forge.stored("fsck --unreachable --no-reflogs").await;
    let id = left.lines().find_map(|line| line.strip_prefix("unreachable commit ")).unwrap();
    let body = json!({ "branch": "other", "ref": id });
    let branches = format!("/projects/{}/repository/branches", forge.project);
    alice.post(&branches, body).await.refused(400, json!({ "message": told }));
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn branches_are_called_as_the_rule_wants() {
    let rule = json!({ "branch_name_regex": "^(feature|fix)/" });
    let told = "Branch name 'topic' does not follow the pattern '^(feature|fix)/'";
    refused(rule.clone(), &[], "main:topic", told).await;

    let (forge, client) = with_rule(rule).await;
    client.commit("more").await;
    client.run("push -q origin main main:feature/x main:refs/tags/any").await.ok();
    client.run("push -q origin :feature/x").await.ok();
    assert_eq!(forge.events().len(), 5);
}

#[actix_web::test]
async fn tags_stay_where_git_may_not_delete_them() {
    let (forge, client) = with_rule(json!({ "deny_delete_tag": true })).await;
    client.run("push -q origin main:refs/tags/v1").await.ok();

    client.run("push origin :v1").await.told("GitLab: You cannot delete a tag");
    assert_eq!(forge.stored("tag").await, "v1");
    let path = format!("/projects/{}/repository/tags/v1", forge.project);
    assert_eq!(forge.app.person("alice").delete(&path).await.status, 204);
}

#[actix_web::test]
async fn addresses_are_compared_with_the_pattern_committer_first() {
    let rule = json!({ "author_email_regex": "@corp$" });
    let told = "Committer's email 'carl@example.com' does not follow the pattern '@corp$'";
    refused(rule, COMMIT, "main", told).await;
    let rule = json!({ "author_email_regex": "^carl@" });
    let other: &[&[&str]] =
        &[&["commit", "-q", "--allow-empty", "--author=Bo <bo@corp>", "-m", "x"]];
    let told = "Author's email 'bo@corp' does not follow the pattern '^carl@'";
    refused(rule, other, "main", told).await;
}

#[actix_web::test]
async fn people_push_what_they_committed_under_their_own_address() {
    let rule = json!({ "commit_committer_check": true });
    let told = "You cannot push commits for 'carl@example.com'. You can only push commits if the committer email is one of your own verified emails.";
    refused(rule.clone(), COMMIT, "main", told).await;

    let (forge, client) = with_rule(rule).await;
    let id = forge.app.user("alice").id;
    for email in ["Alice@Example.com".to_owned(), format!("{id}-alice@users.noreply.forge.test")] {
        let environment = [("GIT_COMMITTER_EMAIL", &*email)];
        client.git_with(&["commit", "-q", "--allow-empty", "-m", "own"], &environment).await.ok();
        client.run("push -q origin main").await.ok();
    }
    assert_eq!(forge.events().len(), 3);
}

#[actix_web::test]
async fn a_further_address_counts_once_it_is_confirmed() {
    let (forge, client) = with_rule(json!({ "commit_committer_check": true })).await;
    let (root, id) = (forge.app.admin(), forge.app.user("alice").id);
    let path = format!("/users/{id}/emails");
    root.post(&path, json!({ "email": "carl@example.com" })).await.created();
    client.commit("second").await;

    let told = "GitLab: Committer email 'carl@example.com' is not verified.";
    client.run("push origin main").await.told(told);
    let further = json!({ "email": "alice@work.example.com", "skip_confirmation": true });
    root.post(&path, further).await.created();
    let environment = [("GIT_COMMITTER_EMAIL", "alice@work.example.com")];
    client.git_with(&["commit", "-q", "--amend", "-m", "x"], &environment).await.ok();
    client.run("push -q origin main").await.ok();
}

#[actix_web::test]
async fn authors_must_be_known_here() {
    let rule = json!({ "member_check": true });
    let told = "Author 'carl@example.com' is not a member of team";
    refused(rule.clone(), COMMIT, "main", told).await;
    let other: &[&[&str]] =
        &[&["commit", "-q", "--allow-empty", "--author=A <alice@example.com>", "-m", "x"]];
    let told = "Committer 'carl@example.com' is not a member of team";
    refused(rule.clone(), other, "main", told).await;

    let (forge, client) = with_rule(rule).await;
    let id = forge.app.user("alice").id;
    let further = json!({ "email": "Carl@example.com" });
    forge.app.admin().post(&format!("/users/{id}/emails"), further).await.created();
    client.commit("known").await;
    client.run("push -q origin main").await.ok();
}

#[actix_web::test]
async fn signatures_names_and_sign_offs_can_be_demanded() {
    let rule = json!({ "reject_unsigned_commits": true });
    refused(rule, COMMIT, "main", "Commit must be signed with a GPG key").await;
    let rule = json!({ "commit_committer_name_check": true });
    let told = "Your git author name is inconsistent with GitLab account name";
    refused(rule, COMMIT, "main", told).await;
    let rule = json!({ "reject_non_dco_commits": true });
    refused(rule, COMMIT, "main", "Commit message must contain a DCO signoff").await;

    let (_forge, client) = with_rule(json!({ "reject_non_dco_commits": true })).await;
    client.run("commit -q --allow-empty -s -m signed").await.ok();
    client.run("push -q origin main").await.ok();
}

#[actix_web::test]
async fn a_signature_is_enough_whoever_made_it() {
    let (forge, client) = with_rule(json!({ "reject_unsigned_commits": true })).await;
    let plain = client.run("cat-file commit HEAD").await.ok();
    let (head, message) = plain.split_once("\n\n").unwrap();
    let signed = format!(
        "{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}\n"
    );
    std::fs::write(client.path().join("signed"), signed).unwrap();
    let id = client.run("hash-object -t commit -w signed").await.ok();

    client.git(&["push", "-q", "origin", &format!("{id}:refs/heads/signed")]).await.ok();

    assert_eq!(forge.stored("rev-parse signed").await, id);
}

async fn with_file(client: &Client, name: &str, content: &[u8]) {
    if let Some((folder, _)) = name.rsplit_once('/') {
        std::fs::create_dir_all(client.path().join(folder)).expect("a folder");
    }
    client.commit_file(name, content, "a file").await;
}

#[actix_web::test]
async fn new_files_must_not_be_called_so() {
    let (forge, client) = with_rule(json!({ "file_name_regex": "\\.exe$|^file$" })).await;
    // What is there already may be edited.
    client.commit("edited").await;
    client.run("push -q origin main").await.ok();

    with_file(&client, "bin/a.exe", b"x").await;
    let told = "GitLab: File name bin/a.exe was prohibited by the pattern \"\\.exe$|^file$\".";
    client.run("push origin main").await.told(told);
    client.run("reset -q --hard HEAD~1").await.ok();
    client.run("mv file b.exe").await.ok();
    client.run("commit -q -m renamed").await.ok();
    let told = "GitLab: File name b.exe was prohibited by the pattern \"\\.exe$|^file$\".";
    client.run("push origin main").await.told(told);
    assert_eq!(forge.events().len(), 2);
}

#[actix_web::test]
async fn files_with_secrets_are_kept_out() {
    let (forge, client) = with_rule(json!({ "prevent_secrets": true })).await;
    for (name, pattern) in [("id_rsa", "id_rsa$"), ("keys/server.pem", r"\.(pem|key)$")] {
        with_file(&client, name, b"secret").await;
        let told = format!("GitLab: File name {name} was prohibited by the pattern \"{pattern}\".");
        client.run("push origin main").await.told(&told);
        client.run("reset -q --hard HEAD~1").await.ok();
    }
    with_file(&client, "id_rsa.pub", b"public").await;
    client.run("push -q origin main").await.ok();
    assert_eq!(forge.events().len(), 2);
}

#[actix_web::test]
async fn large_files_are_for_lfs_even_when_a_later_commit_takes_them_out() {
    let (forge, client) = with_rule(json!({ "max_file_size": 1 })).await;
    with_file(&client, "exactly", &noise(1 << 20)).await;
    client.run("push -q origin main").await.ok();
    with_file(&client, "data/big", &noise((1 << 20) + 1)).await;
    client.run("rm -q data/big").await.ok();
    client.run("commit -q -m gone").await.ok();

    let told = "GitLab: File \"data/big\" is larger than the allowed size of 1 MB. Use Git LFS to manage this file.";
    client.run("push origin main").await.told(told);
    assert_eq!(forge.events().len(), 2);
}

#[actix_web::test]
async fn what_a_merge_takes_from_its_parents_is_not_new() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("checkout -q -b side").await.ok();
    with_file(&client, "id_rsa", b"old sin").await;
    client.run("push -q origin side").await.ok();
    let path = format!("/projects/{}/push_rule", forge.project);
    let alice = forge.app.person("alice");
    alice.post(&path, json!({ "prevent_secrets": true })).await.created();
    client.run("checkout -q main").await.ok();
    client.commit("ours").await;

    client.run("merge -q --no-edit side").await.ok();
    client.run("push -q origin main").await.ok();
    std::fs::write(client.path().join("id_dsa"), "slipped in").unwrap();
    client.run("checkout -q -b other HEAD~1").await.ok();
    client.commit_file("elsewhere", b"theirs", "theirs").await;
    client.run("checkout -q main").await.ok();
    client.run("merge -q --no-commit --no-ff other").await.ok();
    client.run("add id_dsa").await.ok();
    client.run("commit -q -m evil").await.ok();

    let told = "GitLab: File name id_dsa was prohibited by the pattern \"id_dsa$\".";
    client.run("push origin main").await.told(told);
}

#[actix_web::test]
async fn the_first_failure_in_the_order_of_the_rules_is_told() {
    let (forge, client) = with_rule(json!({
        "branch_name_regex": "^ok", "commit_message_regex": "JIRA", "member_check": true,
        "reject_unsigned_commits": true, "max_file_size": 1, "prevent_secrets": true,
    }))
    .await;
    with_file(&client, "big", &noise((1 << 20) + 1)).await;
    let told = |text: &str| format!("GitLab: {text}");
    let push =
        async |refspecs: &[&str]| client.git(&[&["push", "origin"][..], refspecs].concat()).await;

    push(&["main:x"]).await.told(&told("Branch name 'x' does not follow the pattern '^ok'"));
    let message = "Commit message does not follow the pattern 'JIRA'";
    push(&["main:ok"]).await.told(&told(message));
    // An earlier ref's commits come before a later ref's name.
    push(&["main:ok", "main:x"]).await.told(&told(message));
    client.run("commit -q --amend -m JIRA").await.ok();
    push(&["main:ok"]).await.told(&told("Commit must be signed with a GPG key"));
    with_file(&client, "id_rsa", b"secret").await;
    let secret = told("File name id_rsa was prohibited by the pattern \"id_rsa$\".");
    push(&["main:x"]).await.told(&secret);
    // Whether a ref may move at all comes before the files of those after it.
    let kept = json!({ "name": "z", "push_access_level": 0, "merge_access_level": 0 });
    let path = format!("/projects/{}/protected_branches", forge.project);
    forge.app.person("alice").post(&path, kept).await.created();
    let forbidden = told("You are not allowed to create protected branches on this project.");
    push(&["main:z", "main:a"]).await.told(&forbidden);
    push(&["main:a", "main:z"]).await.told(&secret);
    assert_eq!(forge.stored("for-each-ref --format=%(refname)").await, "refs/heads/main");
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn sizes_are_told_last() {
    let (_forge, client) =
        with_rule(json!({ "max_file_size": 1, "commit_message_regex": "file" })).await;
    with_file(&client, "big", &noise((1 << 20) + 1)).await;
    let told = "GitLab: File \"big\" is larger than the allowed size of 1 MB. Use Git LFS to manage this file.";
    client.run("push origin main").await.told(told);
    client.run("commit -q --allow-empty -m last").await.ok();
    let told = "GitLab: Commit message does not follow the pattern 'file'";
    client.run("push origin main").await.told(told);
}

#[actix_web::test]
async fn the_first_push_meets_the_rule_that_the_project_began_with() {
    let (forge, client) = (Forge::new(), Client::with_commit().await);
    let path = format!("/projects/{}/push_rule", forge.project);
    let rule = json!({ "commit_message_regex": "JIRA", "branch_name_regex": "^f/" });
    forge.app.person("alice").post(&path, rule).await.created();

    let told = "GitLab: Commit message does not follow the pattern 'JIRA'";
    client.git(&["push", &forge.url(), "main"]).await.told(told);
    client.run("commit -q --amend -m JIRA").await.ok();
    // The branch that becomes the default one may be called anything.
    client.git(&["push", &forge.url(), "main"]).await.ok();
    assert_eq!(forge.default_branch().as_deref(), Some("main"));
}

#[actix_web::test]
async fn a_pathological_pattern_and_a_huge_message_do_no_harm() {
    let rule = json!({
        "commit_message_regex": "(a*)*b|(a|a)*c|second|^x*x*x*x*x*y$",
        "commit_message_negative_regex": "(a|aa)+$z|(.*)(.*)(.*)(.*)Q",
    });
    let (forge, client) = with_rule(rule).await;
    std::fs::write(client.path().join(".git/long"), "a".repeat(1 << 20)).unwrap();

    client.run("commit -q --allow-empty -F .git/long").await.ok();
    let complaint = client.run("push origin main").await.refused();

    assert!(complaint.contains("Commit message does not follow the pattern"), "{complaint}");
    assert_eq!(forge.events().len(), 1);
}

#[actix_web::test]
async fn many_commits_are_looked_at_in_one_go() {
    let (forge, client) = with_rule(json!({
        "commit_message_regex": "^c", "prevent_secrets": true, "member_check": true, "max_file_size": 1,
    }))
    .await;
    forge.app.person("carl");
    let (tip, mut stream) = (client.run("rev-parse main").await.ok(), String::new());
    for number in 1..=1500 {
        let from = if number == 1 { format!("from {tip}\n") } else { String::new() };
        let data = format!("text {number}");
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter Carl <carl@example.com> {} +0000\ndata 7\nc-{number:05}\n{from}M 644 inline f{}\ndata {}\n{data}\n",
            1_700_000_000 + number, number % 50, data.len()
        ));
    }
    std::fs::write(client.path().join(".git/stream"), stream).unwrap();
    let script = client.path().join(".git/stream");
    let status = std::process::Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(client.path())
        .stdin(std::fs::File::open(script).unwrap())
        .status()
        .unwrap();
    assert!(status.success());

    client.run("push -q origin main").await.ok();

    assert_eq!(forge.stored("rev-list --count main").await, "1501");
}
