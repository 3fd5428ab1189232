//! Project names and paths, and the path derived from a name.

use kernel::{FieldErrors, values::length_fault};

/// The first part of an address below a namespace that means something else to the server.
const RESERVED: [&str; 24] = [
    "-",
    "badges",
    "blame",
    "blob",
    "builds",
    "commits",
    "create",
    "create_dir",
    "edit",
    "environments",
    "files",
    "find_file",
    "gitlab-lfs",
    "info",
    "new",
    "preview",
    "raw",
    "refs",
    "tree",
    "update",
    "wikis",
    "folders",
    "uploads",
    "graphs",
];

const MOST: usize = 255;

const PATH_RULE: &str = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'";
const NAME_RULE: &str = "can contain only letters, digits, emojis, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.";
const BLANK: &str = "can't be blank";

/// The path that a name gives: lower case, and a dash for whatever a path cannot hold.
pub fn path_of(name: &str) -> String {
    let mut path = String::new();
    for character in name.to_lowercase().chars() {
        let kept = character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-');
        match (kept, path.ends_with('-')) {
            (true, _) => path.push(character),
            (false, false) => path.push('-'),
            (false, true) => {}
        }
    }
    path.trim_matches(|edge| matches!(edge, '-' | '.')).to_owned()
}

/// What is wrong with a project's name and path, by field.
pub fn flaws(name: &str, path: &str) -> FieldErrors {
    let mut found = FieldErrors::new();
    let mut names = Vec::new();
    if name.trim().is_empty() {
        names.push(BLANK.to_owned());
    } else if !is_name(name) {
        names.push(NAME_RULE.to_owned());
    }
    names.extend(length_fault(name, MOST));
    let mut paths = Vec::new();
    if path.is_empty() {
        paths.push(BLANK.to_owned());
    } else if !is_path(path) {
        paths.push(PATH_RULE.to_owned());
    } else if RESERVED.contains(&path.to_lowercase().as_str()) {
        paths.push(format!("{path} is a reserved name"));
    }
    paths.extend(length_fault(path, MOST));
    for (field, texts) in [("name", names), ("path", paths)] {
        if !texts.is_empty() {
            found.push((field.to_owned(), texts));
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    let starts =
        |character: char| character.is_alphanumeric() || character == '_' || is_emoji(character);
    let goes_on = |character: char| {
        starts(character) || matches!(character, '.' | '+' | '-' | ' ' | '\u{2010}'..='\u{2015}')
    };
    name.chars().next().is_some_and(starts) && name.chars().all(goes_on)
}

/// Symbols beyond letters that a name may hold; the joiners and variation marks belong to sequences of them.
fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{200D}' | '\u{FE0F}' | '\u{2190}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}' | '\u{E0020}'..='\u{E007F}'
    )
}

fn is_path(path: &str) -> bool {
    let lower = path.to_lowercase();
    let starts =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.');
    path.chars().next().is_some_and(starts)
        && path.chars().all(|character| starts(character) || character == '-')
        && !lower.ends_with(".git")
        && !lower.ends_with(".atom")
        && !matches!(path, "." | "..")
}

#[cfg(test)]
mod tests {
    use super::{flaws, path_of};

    #[test]
    fn a_path_follows_from_a_name() {
        for (name, path) in [
            ("My Great Project", "my-great-project"),
            ("C++ & Rust", "c-rust"),
            ("  edge  ", "edge"),
            ("a_b.c-d", "a_b.c-d"),
            ("Grüße", "gr-e"),
        ] {
            assert_eq!(path_of(name), path, "{name}");
        }
    }

    #[test]
    fn names_and_paths_that_cannot_be_are_told_by_field() {
        for (name, path, fields) in [
            ("Fine", "fine", &[][..]),
            ("🚀 launch", "launch", &[]),
            ("", "x", &["name"]),
            ("<b>", "x", &["name"]),
            ("x", "-x", &["path"]),
            ("x", "x.git", &["path"]),
            ("x", "x.Atom", &["path"]),
            ("x", "..", &["path"]),
            ("x", "a/b", &["path"]),
            ("x", "tree", &["path"]),
            ("+", "", &["name", "path"]),
        ] {
            let found: Vec<String> =
                flaws(name, path).into_iter().map(|(field, _)| field).collect();
            assert_eq!(found, fields, "{name} {path}");
        }
    }
}
