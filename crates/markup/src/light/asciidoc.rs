//! `AsciiDoc`.

use super::{
    Dialect, after_run, is_rule,
    sink::{Checkbox, List, Sink},
};
use crate::Links;

const REMARKS: [&str; 5] = ["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"];

/// A block between two equal lines whose text is not looked at.
enum Verbatim {
    Code(Option<String>),
    Comment,
}

#[derive(Default)]
struct State {
    /// What ends the block that is being read, and what becomes of its lines.
    inside: Option<(String, Verbatim, String)>,
    /// The language that a line in brackets announced.
    language: Option<String>,
    in_table: bool,
    quoted: bool,
}

pub(crate) fn render(text: &str, links: &Links<'_>) -> String {
    let mut sink = Sink::new(Dialect::Asciidoc, links, text.len());
    let mut state = State::default();
    for line in text.lines() {
        read(&mut sink, &mut state, line);
    }
    if let Some((_, verbatim, text)) = state.inside {
        end_verbatim(&mut sink, verbatim, &text);
    }
    sink.finish()
}

fn end_verbatim(sink: &mut Sink<'_>, verbatim: Verbatim, text: &str) {
    if let Verbatim::Code(language) = verbatim {
        sink.code(language.as_deref(), text);
    }
}

fn read(sink: &mut Sink<'_>, state: &mut State, line: &str) {
    if let Some((end, verbatim, mut text)) = state.inside.take() {
        if line.trim_end() == end {
            return end_verbatim(sink, verbatim, &text);
        }
        text.push_str(line);
        text.push('\n');
        state.inside = Some((end, verbatim, text));
        return;
    }
    if line.trim_end() == "|===" {
        state.in_table = !state.in_table;
        return sink.end_blocks();
    }
    if state.in_table {
        if let Some(cells) = line.strip_prefix('|') {
            sink.row(cells.split('|'), false);
        }
        return;
    }
    if !(delimiter(sink, state, line) || block(sink, state, line) || item(sink, line)) {
        sink.line(line);
    }
}

/// Lines that begin and end a block.
fn delimiter(sink: &mut Sink<'_>, state: &mut State, line: &str) -> bool {
    let end = line.trim_end();
    let verbatim = match () {
        () if is_rule(end, b'-', 4) || is_rule(end, b'.', 4) || end == "```" => {
            Verbatim::Code(state.language.take())
        }
        () if is_rule(end, b'/', 4) => Verbatim::Comment,
        () if is_rule(end, b'_', 4) || is_rule(end, b'=', 4) || is_rule(end, b'*', 4) => {
            state.quoted = !state.quoted;
            if state.quoted {
                sink.open_quote()
            } else {
                sink.close_quote()
            }
            return true;
        }
        () => return false,
    };
    sink.end_text();
    state.inside = Some((end.to_owned(), verbatim, String::new()));
    true
}

fn block(sink: &mut Sink<'_>, state: &mut State, line: &str) -> bool {
    let trimmed = line.trim_end();
    if trimmed.is_empty() || trimmed == "+" {
        sink.end_text();
        return true;
    }
    if trimmed.starts_with("//") {
        return true;
    }
    if let Some((level, text)) = after_run(trimmed, b'=', 6) {
        sink.heading(level, text);
        return true;
    }
    if trimmed == "'''" {
        sink.rule();
        return true;
    }
    if let Some(inside) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
        && !sink.has_text()
    {
        let mut parts = inside.split(',').map(str::trim);
        state.language = match parts.next() {
            Some("source" | "") => parts.next().map(str::to_owned),
            _ => None,
        };
        return true;
    }
    if is_attribute(trimmed) && !sink.has_text() {
        return true;
    }
    if let Some((target, alt)) = picture(trimmed) {
        sink.picture(target, alt);
        return true;
    }
    let remark = trimmed.split_once(": ").filter(|(name, _)| REMARKS.contains(name));
    if let Some((name, text)) = remark.filter(|_| !sink.has_text()) {
        sink.remark(name, text);
        return true;
    }
    // The title of a block.
    if let Some(title) = trimmed.strip_prefix('.')
        && !title.starts_with(['.', ' '])
        && !sink.has_text()
    {
        sink.line(title);
        sink.end_text();
        return true;
    }
    false
}

/// `:name: value`
fn is_attribute(line: &str) -> bool {
    let name = line.strip_prefix(':').and_then(|rest| rest.split_once(':')).map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// `image::target[alt]`
fn picture(line: &str) -> Option<(&str, &str)> {
    let (target, rest) = line.strip_prefix("image::")?.split_once('[')?;
    let inside = rest.strip_suffix(']')?;
    Some((target, inside.split(',').next().unwrap_or_default()))
}

fn item(sink: &mut Sink<'_>, line: &str) -> bool {
    let trimmed = line.trim();
    let bullet = after_run(trimmed, b'*', 6).or_else(|| after_run(trimmed, b'-', 1));
    if let Some((depth, text)) = bullet {
        let (tick, text) = match text.get(..4) {
            Some("[ ] ") => (Checkbox::Open, &text[4..]),
            Some("[x] " | "[X] " | "[*] ") => (Checkbox::Done, &text[4..]),
            _ => (Checkbox::None, text),
        };
        sink.item(List::Bullets, depth, tick, text);
        return true;
    }
    if let Some((depth, text)) = after_run(trimmed, b'.', 6) {
        sink.item(List::Numbers, depth, Checkbox::None, text);
        return true;
    }
    if let Some(text) = super::after_number(trimmed).filter(|_| !sink.has_text()) {
        sink.item(List::Numbers, 1, Checkbox::None, text);
        return true;
    }
    let term = trimmed.split_once(":: ").or_else(|| trimmed.strip_suffix("::").map(|t| (t, "")));
    if let Some((term, text)) = term.filter(|(term, _)| !term.is_empty()) {
        sink.term(0, term, text);
        return true;
    }
    if sink.in_list() && !sink.has_text() {
        sink.end_lists();
    }
    false
}
