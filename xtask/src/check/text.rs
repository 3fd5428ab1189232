//! Texts that no tracked file may contain: paths of one machine, placeholder code, and examples that nobody runs.

use anyhow::Result;

use super::outcome::{Outcome, none};
use crate::workspace::{files, root, shown};

/// Spelled in two halves, so that this file is no finding.
const PATHS: &[(&str, &str)] =
    &[("/wo", "rk/"), ("/fa", "rm/"), ("/ro", "ot/"), ("/Us", "ers/"), ("/ho", "me/")];
const STUBS: &[(&str, &str)] = &[
    ("to", "do!("),
    ("unimple", "mented!("),
    ("#[ig", "nore"),
    ("FIX", "ME"),
    ("NotImple", "mented"),
];

pub(super) fn check() -> Result<Outcome> {
    let mut found = Vec::new();
    for file in files(&["*"])? {
        let Ok(text) = String::from_utf8(std::fs::read(&file)?) else { continue };
        let name = shown(&file);
        if name.ends_with(".lock") || name.ends_with("package-lock.json") {
            continue;
        }
        let rust = name.ends_with(".rs");
        for (number, line) in text.lines().enumerate() {
            found.extend(
                finding(line, rust)
                    .map(|what| format!("{name}:{}: {what}: {}", number + 1, line.trim())),
            );
        }
        if rust && !text.trim_start().starts_with("//!") {
            found.push(format!("{name}: does not begin with what it is about (`//!`)"));
        }
        if rust && has_example(&text) && !runs_examples(&name) {
            found.push(format!(
                "{name}: has an example in a comment, which does not run: take `doctest = false` out of the crate's Cargo.toml"
            ));
        }
    }
    none(&found)
}

/// Whether a comment shows Rust code, which `cargo test` runs: a fence that opens without a language, or names Rust.
fn has_example(text: &str) -> bool {
    let fences = text.lines().filter_map(|line| {
        let comment = line.trim_start().strip_prefix("//")?;
        comment.strip_prefix(['!', '/'])?.trim_start().strip_prefix("```")
    });
    fences.step_by(2).any(|language| language.is_empty() || language.starts_with("rust"))
}

/// Looking for examples where there are none takes the compiler as long as a check of the crate, so most leave it out.
fn runs_examples(file: &str) -> bool {
    let folder = file.split("/src/").next().unwrap_or_default();
    let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml"));
    !manifest.unwrap_or_default().contains("doctest = false")
}

fn finding(line: &str, rust: bool) -> Option<&'static str> {
    if PATHS.iter().any(|(head, tail)| holds_path(line, &format!("{head}{tail}"))) {
        return Some("a path of one machine");
    }
    let stub = rust && STUBS.iter().any(|(head, tail)| line.contains(&format!("{head}{tail}")));
    stub.then_some("a stub, or a test that never runs")
}

/// Whether an absolute path begins there: not a part of a longer one, nor of an address.
fn holds_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(place, _)| {
        !line[..place].ends_with(|c: char| {
            c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | '/' | '*' | '~')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found_and_an_address_is_not() {
        let path = format!("{}{}", PATHS[0].0, PATHS[0].1);

        assert!(finding(&format!("cd {path}main"), false).is_some());
        assert!(finding(&format!("https://example.com{path}main"), false).is_none());
    }

    #[test]
    fn a_fence_without_a_language_is_an_example() {
        let fence = |language: &str| format!("//! Text\n//! ```{language}\n//! code\n//! ```\n");

        assert!(has_example(&fence("")));
        assert!(has_example(&fence("rust,no_run")));
        assert!(!has_example(&fence("text")));
    }

    #[test]
    fn a_stub_is_found_in_code_only() {
        let stub = format!("    {}{})", STUBS[0].0, STUBS[0].1);

        assert!(finding(&stub, true).is_some());
        assert!(finding(&stub, false).is_none());
    }
}
