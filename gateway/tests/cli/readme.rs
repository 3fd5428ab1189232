//! The README's tour is run as it stands.

use std::process::Command;

use crate::support::{Installation, TOKEN, as_ada};

const README: &str = include_str!("../../../README.md");

/// All blocks of shell commands, one after the other, with this installation's address and token.
fn script(forge: &Installation) -> String {
    let blocks = README.split("```sh\n").skip(1).filter_map(|rest| rest.split("```\n").next());
    let text: String = blocks.collect();
    text.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", forge.port))
        .replace("paste-the-token-here", TOKEN)
}

#[test]
fn the_tour_of_the_readme_works() {
    let forge = Installation::new();
    let server = forge.start();

    let mut shell = Command::new("sh");
    as_ada(&mut shell);
    shell.current_dir(forge.folder.path()).args(["-eux", "-c", &script(&forge)]);
    let done = shell.output().expect("a shell");

    let (said, steps) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}\n{steps}");
    assert!(said.contains("\"path_with_namespace\":\"root/hello\""), "{said}");
    assert!(said.contains("Say more") && said.contains("docs/why.md | 1 +"), "{said}");
    assert!(said.trim_end().ends_with("# Hello"), "{said}");
    server.stop();
}
