//! Org.

use super::{
    Dialect, after_number, after_run, indent_of, is_rule,
    sink::{Checkbox, List, Sink},
};
use crate::Links;

/// A block from `#+BEGIN_…` to `#+END_…`.
enum Block {
    Code {
        language: Option<String>,
        text: String,
    },
    /// Left out: comments, and what is meant for other programs.
    Hidden,
}

pub(crate) fn render(text: &str, links: &Links<'_>) -> String {
    let mut sink = Sink::new(Dialect::Org, links, text.len());
    let mut inside: Option<(String, Block)> = None;
    for line in text.lines() {
        let Some((end, mut block)) = inside.take() else {
            inside = read(&mut sink, line);
            continue;
        };
        if line.trim().eq_ignore_ascii_case(&end) {
            close(&mut sink, block);
            continue;
        }
        if let Block::Code { text, .. } = &mut block {
            text.push_str(line);
            text.push('\n');
        }
        inside = Some((end, block));
    }
    if let Some((_, block)) = inside {
        close(&mut sink, block);
    }
    sink.finish()
}

fn close(sink: &mut Sink<'_>, block: Block) {
    if let Block::Code { language, text } = block {
        sink.code(language.as_deref(), &text);
    }
}

/// Reads a line; answers with the block that begins there.
fn read(sink: &mut Sink<'_>, line: &str) -> Option<(String, Block)> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        sink.end_text();
        return None;
    }
    if let Some((level, text)) = after_run(line, b'*', 50) {
        sink.heading(level, without_tags(text));
        return None;
    }
    if let Some(keyword) = trimmed.strip_prefix("#+") {
        return begin(sink, keyword);
    }
    if trimmed.starts_with("# ") || trimmed == "#" {
        return None;
    }
    if trimmed.starts_with(':')
        && trimmed.ends_with(':')
        && trimmed.len() > 2
        && !trimmed.contains(' ')
    {
        let known = trimmed.eq_ignore_ascii_case(":PROPERTIES:")
            || trimmed.eq_ignore_ascii_case(":LOGBOOK:");
        return known.then(|| (":END:".to_owned(), Block::Hidden));
    }
    if let Some(text) = trimmed.strip_prefix(": ") {
        sink.code(None, text);
    } else if is_rule(trimmed, b'-', 5) {
        sink.rule();
    } else if let Some(cells) = trimmed.strip_prefix('|') {
        // Lines between rows only show.
        if !cells.starts_with('-') {
            sink.row(cells.strip_suffix('|').unwrap_or(cells).split('|'), false);
        }
    } else if !item(sink, line) {
        if sink.in_list() && !sink.has_text() && indent_of(line) == 0 {
            sink.end_lists();
        }
        sink.line(line);
    }
    None
}

/// `TITLE: …`, `BEGIN_SRC rust` and their like
fn begin(sink: &mut Sink<'_>, keyword: &str) -> Option<(String, Block)> {
    let (name, rest) = keyword.split_once([' ', ':']).unwrap_or((keyword, ""));
    let name = name.to_ascii_uppercase();
    let end = |kind: &str| format!("#+END_{kind}");
    match name.as_str() {
        "TITLE" => sink.heading(1, rest.trim_start_matches(':').trim()),
        "BEGIN_QUOTE" | "BEGIN_CENTER" | "BEGIN_VERSE" => sink.open_quote(),
        "END_QUOTE" | "END_CENTER" | "END_VERSE" => sink.close_quote(),
        "BEGIN_SRC" => {
            sink.end_text();
            let language = rest.split_whitespace().next().map(str::to_owned);
            return Some((end("SRC"), Block::Code { language, text: String::new() }));
        }
        "BEGIN_EXAMPLE" => {
            sink.end_text();
            return Some((end("EXAMPLE"), Block::Code { language: None, text: String::new() }));
        }
        "BEGIN_COMMENT" | "BEGIN_EXPORT" | "BEGIN_HTML" => {
            let kind = name.strip_prefix("BEGIN_").unwrap_or_default();
            return Some((end(kind), Block::Hidden));
        }
        _ => {}
    }
    None
}

/// A heading without the `:tags:` at its end.
fn without_tags(text: &str) -> &str {
    match text.rsplit_once(' ') {
        Some((before, tags)) if tags.len() > 2 && tags.starts_with(':') && tags.ends_with(':') => {
            before.trim_end()
        }
        _ => text,
    }
}

fn item(sink: &mut Sink<'_>, line: &str) -> bool {
    let (indent, trimmed) = (indent_of(line), line.trim());
    let bullet = ["- ", "+ "].into_iter().find_map(|mark| trimmed.strip_prefix(mark));
    let (list, text) = match (bullet, after_number(trimmed)) {
        (Some(text), _) => (List::Bullets, text),
        (None, Some(text)) => (List::Numbers, text),
        (None, None) => return false,
    };
    if let Some((term, text)) = text.split_once(" :: ").filter(|_| list == List::Bullets) {
        sink.term(indent, term, text);
        return true;
    }
    let (tick, text) = match text.get(..4) {
        Some("[ ] " | "[-] ") => (Checkbox::Open, &text[4..]),
        Some("[X] " | "[x] ") => (Checkbox::Done, &text[4..]),
        _ => (Checkbox::None, text),
    };
    sink.item(list, indent, tick, text);
    true
}
