//! `AsciiDoc`, Org and `RDoc`: the constructs that pages are usually made of, read line by line.
//!
//! Each language looks at lines and says what they are; [`sink`] writes the blocks and [`inline`] what stands inside of
//! them. Every line and every letter is looked at a fixed number of times. What is not understood is shown as text, and
//! HTML is never passed through.

pub(crate) mod asciidoc;
mod inline;
pub(crate) mod org;
pub(crate) mod rdoc;
mod sink;

/// The language whose signs are looked for inside of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Asciidoc,
    Org,
    Rdoc,
}

/// How many blanks a line begins with; a tab counts as one.
fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The rest of a line that begins with `1.` or `1)`.
fn after_number(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 9 {
        return None;
    }
    let rest = &line[digits..];
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
}

/// How often a line begins with `mark`, and the text behind the blank that must follow.
fn after_run(line: &str, mark: u8, most: usize) -> Option<(usize, &str)> {
    let count = line.bytes().take_while(|byte| *byte == mark).count();
    if count == 0 || count > most {
        return None;
    }
    line[count..].strip_prefix(' ').map(|text| (count, text.trim()))
}

/// Whether a line is nothing but `mark`, at least `least` times.
fn is_rule(line: &str, mark: u8, least: usize) -> bool {
    let line = line.trim_end();
    line.len() >= least && line.bytes().all(|byte| byte == mark)
}
