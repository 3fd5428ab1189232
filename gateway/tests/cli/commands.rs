//! The commands beside `serve`, each on an installation whose server may be running.

use serde_json::json;

use crate::support::{Git, Installation, repositories};

fn last_word(text: &str) -> &str {
    text.split_whitespace().last().unwrap_or_default()
}

#[test]
fn help_shows_examples_and_completions_are_written() {
    let forge = Installation::bare();

    let help = forge.run(&["--help"]).ok();
    assert!(help.contains("Examples:") && help.contains("forgeway backup"), "{help}");
    for command in [
        "serve",
        "config",
        "doctor",
        "backup",
        "restore",
        "completions",
        "user",
        "user create",
        "user list",
        "user password",
        "user block",
        "user unblock",
        "token",
        "token create",
        "token revoke",
        "runner register",
        "runner run",
        "runner verify",
        "runner unregister",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = forge.run(&words).ok();
        let (told, examples) = help.split_once("\nExample").unwrap_or((&help, ""));
        assert!(told.contains("Usage: "), "{help}");
        assert!(examples.contains(&format!("forgeway {command}")), "{command}: {help}");
        assert!(help.contains("--help"), "{help}");
    }
    assert!(forge.run(&["completions", "bash"]).ok().contains("_forgeway"));
    assert!(forge.run(&["completions", "zsh"]).ok().contains("#compdef forgeway"));
    assert_eq!(forge.run(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn somebody_gets_a_new_password_and_the_old_one_is_worth_nothing() {
    let forge = Installation::new();
    let server = forge.start();
    let sign_in = |password: &str| {
        let body = json!({ "grant_type": "password", "username": "root", "password": password });
        let kind = [("Content-Type", "application/json")];
        server.open().send("POST", "/oauth/token", &kind, body.to_string().as_bytes()).status
    };
    assert_eq!(sign_in(crate::support::PASSWORD), 200);

    let told = forge.run(&["user", "password", "root"]).ok();

    assert_eq!((sign_in(last_word(&told)), sign_in(crate::support::PASSWORD)), (200, 400));
    server.stop();
}

#[test]
fn people_are_managed_while_the_server_runs() {
    let forge = Installation::new();
    let server = forge.start();

    let made = forge.run(&["user", "create", "ada", "--email", "ada@example.com"]).ok();
    assert!(made.starts_with("made ada (id "), "{made}");
    let token = forge.run(&["token", "create", "ada", "--scope", "read_api"]).ok();
    let token = last_word(&token);
    let as_ada = || server.open().get("/api/v4/version", &[("PRIVATE-TOKEN", token)]);
    assert_eq!(as_ada().status, 200);
    let listed = forge.run(&["user", "list"]).ok();
    assert!(listed.contains("administrator") && listed.contains("ada@example.com"), "{listed}");

    forge.run(&["user", "block", "ada"]).ok();
    let blocked = json!({ "message": "403 Forbidden - Your account has been blocked." });
    assert_eq!(as_ada().with(403), blocked);
    forge.run(&["user", "unblock", "ada"]).ok();
    assert_eq!(as_ada().status, 200);

    assert_eq!(forge.run_with_input(&["token", "revoke", "-"], token).ok(), "revoked\n");
    assert_eq!(as_ada().status, 401);
    server.stop();
}

#[test]
fn what_cannot_be_done_to_people_is_said() {
    let forge = Installation::new();
    forge.start().stop();

    let email = forge.run(&["user", "create", "bob", "--email", "nonsense"]).failed();
    assert!(email.contains("bob cannot be made: email is invalid"), "{email}");
    let nobody = forge.run(&["user", "block", "nobody"]).failed();
    assert!(nobody.contains("User not found"), "{nobody}");
    let scope = forge.run(&["token", "create", "root", "--scope", "everything"]).failed();
    assert!(scope.contains("there is no scope everything; known are api"), "{scope}");
    let token = forge.run(&["token", "revoke", "nonsense"]).failed();
    assert!(token.contains("Token not found"), "{token}");
}

#[test]
fn without_a_data_folder_there_is_nothing_to_do() {
    let forge = Installation::bare();

    let told = forge.run(&["doctor"]).failed();

    assert!(told.contains("there is no data folder"), "{told}");
    assert!(told.contains("start the server once, or give --data"), "{told}");
}

#[test]
fn the_doctor_finds_what_somebody_moved_by_hand() {
    let forge = Installation::new();
    let server = forge.start();
    let git = Git::new(forge.folder.path(), "work");
    let first = git.run(&["rev-parse", "HEAD"]);
    git.commit("second");
    git.run(&["push", "-q", &forge.remote("root/moved"), "main"]);
    assert!(forge.run(&["doctor", "--fsck"]).ok().contains("checked 1 repositories, 0 problems"));

    let repository = repositories(&forge.data()).remove(0);
    let bare = Git { folder: repository };
    bare.run(&["update-ref", "refs/heads/main", &first]);

    let ran = forge.run(&["doctor"]);
    assert!(ran.output.contains("WRONG  root/moved: refs/heads/main is "), "{ran:?}");
    assert!(ran.failed().contains("problems were found"));
    server.stop();
}

#[test]
fn the_doctor_takes_refs_as_they_lie_there() {
    let forge = Installation::new();
    let server = forge.start();
    let git = Git::new(forge.folder.path(), "work");
    let first = git.run(&["rev-parse", "HEAD"]);
    git.run(&["push", "-q", &forge.remote("root/moved"), "main"]);
    let bare = Git { folder: repositories(&forge.data()).remove(0) };
    // On PostgreSQL a transaction that began again has used up an id.
    let project = server.get("/api/v4/projects/root%2Fmoved").with(200);
    let place = format!("repository-{}", project["id"]);
    let sum = || {
        let told = forge.run(&["doctor", "--accept", &place]).ok();
        let line =
            told.lines().find(|line| line.starts_with(&format!("{place} is taken"))).map(last_word);
        line.map(str::to_owned).expect("the sum is told")
    };
    let before = sum();
    bare.run(&["update-ref", "refs/heads/stray", &first]);

    assert_ne!(sum(), before);

    let unknown = forge.run(&["doctor", "--accept", "repository-99"]).failed();
    assert!(unknown.contains("repository-99"), "{unknown}");
    let odd = forge.run(&["doctor", "--accept", "cats"]).failed();
    assert!(odd.contains("`cats` is none of repository-1"), "{odd}");
    server.stop();
}

#[test]
fn the_doctor_tells_why_a_ref_is_elsewhere() {
    let forge = Installation::new();
    let server = forge.start();
    let git = Git::new(forge.folder.path(), "work");
    let first = git.run(&["rev-parse", "HEAD"]);
    git.run(&["push", "-q", &forge.remote("root/moved"), "main"]);
    git.commit("second");
    git.run(&["push", "-q", &forge.remote("root/moved"), "main"]);
    let repository = repositories(&forge.data()).remove(0);
    let lock = repository.join("refs/heads/main.lock");
    let bare = Git { folder: repository };

    // As after a crash between the decision and the move.
    bare.run(&["update-ref", "refs/heads/main", &first]);
    let waits = forge.run(&["doctor"]);
    assert!(waits.output.contains("decided and not carried out"), "{waits:?}");
    std::fs::write(&lock, "").unwrap();
    let locked = forge.run(&["doctor"]);
    assert!(locked.output.contains("the ref is locked"), "{locked:?}");
    std::fs::remove_file(&lock).unwrap();
    bare.run(&["update-ref", "-d", "refs/heads/main"]);
    let by_hand = forge.run(&["doctor"]);
    assert!(by_hand.output.contains("changed the repository by hand"), "{by_hand:?}");
    server.stop();
}

#[test]
fn the_doctor_looks_at_wikis_too() {
    let forge = Installation::new();
    let server = forge.start();
    let git = Git::new(forge.folder.path(), "work");
    git.run(&["push", "-q", &forge.remote("root/one"), "main"]);
    let page = r#"{"title":"home","content":"hello"}"#;
    let wiki = "/api/v4/projects/root%2Fone/wikis";
    assert_eq!(server.post(wiki, page).status, 201);
    let before = repositories(&forge.data());
    let told = forge.run(&["doctor", "--fsck"]).ok();
    assert!(told.contains("checked 2 repositories, 0 problems"), "{told}");
    assert_eq!(server.post(wiki, r#"{"title":"two","content":"more"}"#).status, 201);

    for folder in before {
        let bare = Git { folder };
        if bare.run(&["ls-tree", "--name-only", "main"]).contains("two.md") {
            bare.run(&["update-ref", "refs/heads/main", "main^"]);
        }
    }

    let ran = forge.run(&["doctor"]);
    let found = "WRONG  the wiki of root/one: refs/heads/main is ";
    assert!(ran.output.contains(found), "{ran:?}");
    server.stop();
}

#[test]
fn the_doctor_finds_a_repository_that_is_gone_or_damaged() {
    let forge = Installation::new();
    let server = forge.start();
    let git = Git::new(forge.folder.path(), "work");
    git.run(&["push", "-q", &forge.remote("root/gone"), "main"]);
    let repository = repositories(&forge.data()).remove(0);
    server.stop();

    let objects = repository.join("objects");
    let aside = forge.folder.path().join("aside");
    std::fs::rename(&objects, &aside).unwrap();
    std::fs::create_dir(&objects).unwrap();
    let damaged = forge.run(&["doctor", "--fsck"]);
    assert!(damaged.output.contains("WRONG  root/gone: git fsck says"), "{damaged:?}");

    std::fs::remove_dir_all(&repository).unwrap();
    let gone = forge.run(&["doctor"]);
    let told = gone.output.lines().find(|line| line.starts_with("WRONG  root/gone (project "));
    assert!(told.is_some_and(|line| line.ends_with(") has no repository")), "{gone:?}");
    assert!(gone.failed().contains("problems were found"));
}

#[test]
fn secrets_are_deleted_only_when_their_key_is_lost() {
    let forge = Installation::new();
    let server = forge.start();
    server.post("/api/v4/projects", r#"{"name":"engine"}"#).with(201);
    let variables = "/api/v4/projects/root%2Fengine/variables";
    server.post(variables, r#"{"key":"KEY","value":"v"}"#).with(201);
    server.stop();
    let forget = ["adopt", "--forget-secrets"];

    let refused = forge.run(&forget).failed();
    assert!(refused.contains("opens them"), "{refused}");
    let key = forge.data().join("secrets.key");
    std::fs::write(&key, [1; 32]).unwrap();
    forge.change_rows("UPDATE stamps SET stamp = 7 WHERE subject = 'data folder'");
    let refused = forge.run(&forget).failed();
    assert!(refused.contains("belongs to another data folder"), "{refused}");
    let told = forge.run(&["adopt", "--forget-secrets", "--yes"]).ok();

    assert!(told.contains("holds 1 secrets") && told.contains("1 secrets were deleted"), "{told}");
    let server = forge.start();
    assert_eq!(server.get(variables).with(200), serde_json::json!([]));
    server.stop();
}
