//! A copy of an installation that is in use, and the way back.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::support::{Git, Installation, Server, is_private, repositories, rows};

/// Pushes new branches and new commits, and deletes branches, until it is told to stop.
fn push_all_the_time(git: &Git, remote: &str, stop: &AtomicBool) {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        git.commit(&format!("commit {number}"));
        git.run(&["push", "-q", remote, "main", &format!("main:refs/heads/branch-{number}")]);
        if number > 3 {
            let old = format!(":refs/heads/branch-{}", number - 3);
            git.run(&["push", "-q", remote, &old]);
        }
    }
}

/// Makes commits through the API, each on a branch of its own, until it is told to stop.
fn commit_all_the_time(server: &Server<'_>, stop: &AtomicBool) {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let commit = format!(
            r#"{{"branch":"api-{number}","start_branch":"main","commit_message":"{number}",
                "actions":[{{"action":"create","file_path":"{number}.txt","content":"new"}}]}}"#
        );
        let made = server.post("/api/v4/projects/root%2Fone/repository/commits", &commit);
        assert_eq!(made.status, 201, "{made:?}");
    }
}

/// Writes pages of a wiki, one after the other, until it is told to stop.
fn write_pages_all_the_time(server: &Server<'_>, stop: &AtomicBool) {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        write_page(server, &format!("page {number}"));
    }
}

fn write_page(server: &Server<'_>, title: &str) {
    let page = format!(r#"{{"title":"{title}","content":"new"}}"#);
    let made = server.post("/api/v4/projects/root%2Ftwo/wikis", &page);
    assert_eq!(made.status, 201, "{made:?}");
}

/// Makes a backup while one project is pushed to, and another one is also committed to.
fn backup_under_load(forge: &Installation, server: &Server<'_>, file: &str) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for project in ["one", "two"] {
            let git = Git::new(forge.folder.path(), project);
            let remote = forge.remote(&format!("root/{project}"));
            git.run(&["push", "-q", &remote, "main"]);
            if project == "two" {
                write_page(server, "home");
            }
            let stop = &stop;
            scope.spawn(move || push_all_the_time(&git, &remote, stop));
        }
        scope.spawn(|| commit_all_the_time(server, &stop));
        scope.spawn(|| write_pages_all_the_time(server, &stop));
        let ran = forge.run(&["backup", file]);
        stop.store(true, Ordering::Relaxed);
        assert!(ran.ok().contains(&format!("wrote {file}")));
    });
}

/// How many refs the repositories of an installation have.
fn refs_on_disk(data: &Path) -> i64 {
    repositories(data)
        .into_iter()
        .map(|folder| {
            let refs = Git { folder }.run(&["for-each-ref", "--format=%(refname)"]);
            i64::try_from(refs.lines().count()).unwrap_or(i64::MAX)
        })
        .sum()
}

const REFS_IN_ROWS: &str = "SELECT count(*) AS number FROM push_events AS last \
     WHERE after_sha IS NOT NULL AND NOT EXISTS (SELECT 1 FROM push_events AS later \
     WHERE later.project_id = last.project_id AND later.ref_name = last.ref_name AND later.id > last.id)";

#[test]
fn a_backup_under_load_becomes_a_whole_installation() {
    let forge = Installation::new();
    let server = forge.start();
    backup_under_load(&forge, &server, "copy.tar.gz");
    server.stop();
    let file = forge.folder.path().join("copy.tar.gz");
    assert!(is_private(&file));

    let other = Installation::new();
    let file = file.to_str().unwrap();
    let told = other.run(&["restore", file]).ok();

    assert!(told.contains("restored into"), "{told}");
    let doctor = other.run(&["doctor", "--fsck"]).ok();
    assert!(doctor.contains("checked 3 repositories, 0 problems"), "{doctor}");
    let of_wikis = "SELECT count(*) AS number FROM wiki_refs WHERE new_sha IS NOT NULL";
    let told = rows(&other, REFS_IN_ROWS) + rows(&other, of_wikis);
    assert_eq!(refs_on_disk(&other.data()), told);
    let server = other.start();
    assert_eq!(server.get("/api/v4/version").status, 200, "the administrator's token is known");
    let git = Git::new(other.folder.path(), "again");
    git.run(&["fetch", "-q", &other.remote("root/one"), "main"]);
    git.run(&["push", "-q", &other.remote("root/one"), "FETCH_HEAD:refs/heads/new"]);
    assert!(!other.printed().contains("first start"), "{}", other.printed());
    server.stop();
}

#[test]
fn a_restore_can_be_looked_at_first_and_overwrites_nothing() {
    let forge = Installation::new();
    let server = forge.start();
    let git = Git::new(forge.folder.path(), "work");
    git.run(&["push", "-q", &forge.remote("root/work"), "main"]);
    forge.run(&["backup", "copy.tar.gz"]).ok();
    server.stop();
    let file = forge.folder.path().join("copy.tar.gz");
    let file = file.to_str().unwrap();

    let other = Installation::new();
    let shown = other.run(&["restore", "--dry-run", file]).ok();
    assert!(shown.contains("1 repositories"), "{shown}");
    assert!(!other.data().exists());

    let again = forge.run(&["backup", "copy.tar.gz"]).failed();
    assert!(again.contains("copy.tar.gz exists already; give another name"), "{again}");
    let full = forge.run(&["restore", file]).failed();
    assert!(full.contains("is not empty; give an empty folder with --data"), "{full}");
}

#[test]
fn what_is_no_backup_is_refused() {
    let forge = Installation::new();
    std::fs::write(forge.folder.path().join("text.tar.gz"), "hello").unwrap();

    assert!(forge.run(&["restore", "--dry-run", "nowhere"]).failed().contains("cannot be read"));
    assert!(forge.run(&["restore", "--dry-run", "text.tar.gz"]).failed().contains("damaged"));
    let told = forge.run(&["restore", "text.tar.gz"]).failed();
    assert!(told.contains("is incomplete now; remove it before you try again"), "{told}");
}

#[test]
fn what_is_sealed_can_be_read_after_a_restore() {
    let forge = Installation::new();
    let server = forge.start();
    server.post("/api/v4/projects", r#"{"name":"engine"}"#).with(201);
    let variables = "/api/v4/projects/root%2Fengine/variables";
    server.post(variables, r#"{"key":"KEY","value":"clear text"}"#).with(201);
    forge.run(&["backup", "copy.tar.gz"]).ok();
    server.stop();
    let file = forge.folder.path().join("copy.tar.gz");

    let other = Installation::new();
    other.run(&["restore", file.to_str().unwrap()]).ok();

    assert!(is_private(&other.data().join("secrets.key")));
    let server = other.start();
    assert_eq!(server.get(&format!("{variables}/KEY")).with(200)["value"], "clear text");
    server.stop();
}
