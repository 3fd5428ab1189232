//! Pages with commands for readers are run as they stand.

use std::process::Command;

use crate::support::{Installation, TOKEN, as_ada};

const README: &str = include_str!("../../../README.md");
const REVIEW: &str = include_str!("../../../docs/review.md");
const TEAM: &str = include_str!("../../../docs/team.md");

/// All blocks of shell commands of a page, one after the other, with this installation's address and token.
fn script(page: &str, forge: &Installation) -> String {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```\n").next());
    let text: String = blocks.collect();
    text.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", forge.port))
        .replace("paste-the-token-here", TOKEN)
}

/// What a shell says that follows a page on an empty installation, and stops at the first failure.
fn follow(page: &str) -> String {
    follow_with(page, &[])
}

/// The same with a server that was started with these arguments.
fn follow_with(page: &str, arguments: &[&str]) -> String {
    let forge = Installation::new();
    let server = forge.start_with(arguments);
    // A page may wait for something: a test does not wait for ever.
    let mut shell = Command::new("timeout");
    as_ada(&mut shell);
    shell.current_dir(forge.folder.path());
    shell.args(["120", "sh", "-eux", "-c", &script(page, &forge)]);
    let done = shell.output().expect("a shell");
    let (said, steps) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}\n{steps}");
    server.stop();
    said.into_owned()
}

#[test]
fn the_tour_of_the_readme_works() {
    let said = follow_with(README, &["--with-runner"]);

    assert!(said.contains("\"path_with_namespace\":\"root/hello\""), "{said}");
    assert!(said.contains("Say more") && said.contains("docs/why.md | 1 +"), "{said}");
    assert!(said.contains("}# Hello") && said.contains("Job succeeded"), "{said}");
}

#[test]
fn a_team_of_five_is_set_up_by_following_the_page() {
    let said = follow(TEAM);

    for person in ["root", "ben", "cleo", "dan", "eve", "fay"] {
        assert!(said.contains(&format!("\"username\":\"{person}\"")), "{person} in {said}");
    }
    assert!(said.contains("Commit message does not follow the pattern"), "{said}");
    assert!(said.contains(">How we work<a ") && said.contains("}# How we work"), "{said}");
    assert!(said.contains("{\"message\":\"404 Group Not Found\"}"), "{said}");
    assert!(said.contains("Your account has been blocked."), "{said}");
}

#[test]
fn a_change_goes_from_the_report_to_the_merge_by_following_the_page() {
    let said = follow(REVIEW);

    assert!(said.contains("\"has_conflicts\":true"), "{said}");
    assert!(said.contains("{\"message\":\"405 Method Not Allowed\"}"), "{said}");
    assert!(said.contains("\"merge_when_pipeline_succeeds\":true"), "{said}");
    assert!(said.contains("\"state\":\"merged\"\n\"state\":\"closed\""), "{said}");
    assert!(said.trim_end().ends_with("water: 75\nminutes: 3"), "{said}");
}
