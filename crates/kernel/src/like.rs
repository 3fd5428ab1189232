//! Patterns for `LIKE`.

/// Matches texts that contain `term`; wants the escape character `\`.
pub fn containing(term: &str) -> String {
    format!("%{}%", escaped(&term.to_lowercase()))
}

/// Matches texts that begin with `prefix`.
pub fn beginning(prefix: &str) -> String {
    format!("{}%", escaped(prefix))
}

fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
