//! `RDoc`.

use super::{
    Dialect, after_number, after_run, indent_of, is_rule,
    sink::{Checkbox, List, Sink},
};
use crate::Links;

pub(crate) fn render(text: &str, links: &Links<'_>) -> String {
    let mut sink = Sink::new(Dialect::Rdoc, links, text.len());
    let mut code = String::new();
    let mut hidden = false;
    for line in text.lines() {
        // What stands between these two is meant for the tool itself.
        if matches!(line.trim(), "--" | "#--" | "++" | "#++") {
            hidden = line.trim().ends_with("--");
            continue;
        }
        if hidden {
            continue;
        }
        let is_code = is_verbatim(&sink, line, &code);
        if is_code {
            code.push_str(line.strip_prefix("  ").unwrap_or(line));
            code.push('\n');
            continue;
        }
        end_code(&mut sink, &mut code);
        read(&mut sink, line);
    }
    end_code(&mut sink, &mut code);
    sink.finish()
}

/// Indented lines that neither go on with a list nor begin one are shown as they are.
fn is_verbatim(sink: &Sink<'_>, line: &str, code: &str) -> bool {
    if line.trim().is_empty() {
        return !code.is_empty();
    }
    let begins = !sink.has_text() && !sink.in_list() && parse_item(line.trim()).is_none();
    indent_of(line) > 0 && (!code.is_empty() || begins)
}

fn end_code(sink: &mut Sink<'_>, code: &mut String) {
    if !code.is_empty() {
        sink.code(None, code.trim_end());
        code.clear();
    }
}

fn read(sink: &mut Sink<'_>, line: &str) {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return sink.end_text();
    }
    if let Some((level, text)) = after_run(line, b'=', 6) {
        return sink.heading(level, text);
    }
    if is_rule(trimmed, b'-', 3) {
        return sink.rule();
    }
    match parse_item(trimmed) {
        Some(Item::Of(list, text)) => sink.item(list, indent_of(line), Checkbox::None, text),
        Some(Item::Term(term, text)) => sink.term(indent_of(line), term, text),
        None => {
            if sink.in_list() && !sink.has_text() && indent_of(line) == 0 {
                sink.end_lists();
            }
            sink.line(line);
        }
    }
}

enum Item<'a> {
    Of(List, &'a str),
    Term(&'a str, &'a str),
}

fn parse_item(line: &str) -> Option<Item<'_>> {
    if let Some(text) = ["* ", "- "].into_iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(Item::Of(List::Bullets, text));
    }
    if let Some(text) = after_number(line) {
        return Some(Item::Of(List::Numbers, text));
    }
    if let Some((term, text)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        return Some(Item::Term(term, text));
    }
    let (term, text) = line.split_once(":: ")?;
    (!term.is_empty() && !term.contains(' ')).then_some(Item::Term(term, text))
}
