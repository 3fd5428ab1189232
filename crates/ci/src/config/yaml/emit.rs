//! Values as YAML again, in the style in which merged configurations are shown.

use super::scalar;
use crate::config::node::{Map, Node};

/// A whole document.
pub(crate) fn emit(map: &Map) -> String {
    let mut text = "---".to_owned();
    if map.is_empty() {
        text.push_str(" {}\n");
        return text;
    }
    text.push('\n');
    mapping(&mut text, map, 0);
    text
}

fn mapping(text: &mut String, map: &Map, depth: usize) {
    for (index, (key, value)) in map.iter().enumerate() {
        // The first key of a mapping in a list stands beside the dash.
        if index > 0 || !text.ends_with("- ") {
            indent(text, depth);
        }
        let plain = !key.is_text() || is_plain(key.as_str());
        text.push_str(&if plain { key.to_string() } else { quoted(key.as_str()) });
        text.push(':');
        value_after(text, value, depth);
    }
}

fn value_after(text: &mut String, value: &Node, depth: usize) {
    match value {
        Node::Map(map) if !map.is_empty() => {
            text.push('\n');
            mapping(text, map, depth + 1);
        }
        Node::List(list) if !list.items().is_empty() => {
            text.push('\n');
            items(text, list.items(), depth);
        }
        Node::Null => text.push('\n'),
        other => {
            text.push(' ');
            text.push_str(&leaf(other, depth));
            text.push('\n');
        }
    }
}

fn items(text: &mut String, list: &[Node], depth: usize) {
    for item in list {
        if !text.ends_with("- ") {
            indent(text, depth);
        }
        text.push_str("- ");
        match item {
            Node::Map(map) if !map.is_empty() => mapping(text, map, depth + 1),
            Node::List(list) if !list.items().is_empty() => items(text, list.items(), depth + 1),
            other => {
                text.push_str(&leaf(other, depth));
                text.push('\n');
            }
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

fn leaf(node: &Node, depth: usize) -> String {
    match node {
        Node::Text(text) => word(text, depth),
        Node::Null => String::new(),
        Node::Bool(_) | Node::Int(_) => node.scalar().unwrap_or_default(),
        Node::Float(value) if value.is_infinite() => {
            if *value > 0.0 { ".inf" } else { "-.inf" }.to_owned()
        }
        Node::Float(value) if value.is_nan() => ".nan".to_owned(),
        Node::Float(_) => node.scalar().unwrap_or_default(),
        Node::List(_) | Node::Map(_) | Node::Reference(_) => inline(node),
    }
}

/// Text so that it is read as the same text: plain, as a block, or in quotes.
fn word(text: &str, depth: usize) -> String {
    let blockable = text.contains('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && !text.chars().any(|sign| is_hidden(sign) && sign != '\n');
    if blockable {
        return block(text, depth);
    }
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

fn block(text: &str, depth: usize) -> String {
    let body = text.trim_end_matches('\n');
    let chomping = match text.len() - body.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut shown = format!("|{chomping}\n");
    let kept = if chomping == "+" { &text[..text.len() - 1] } else { body };
    for (index, line) in kept.split('\n').enumerate() {
        if index > 0 {
            shown.push('\n');
        }
        if !line.is_empty() {
            indent(&mut shown, depth + 1);
            shown.push_str(line);
        }
    }
    shown
}

fn is_plain(text: &str) -> bool {
    const OPENING: &[char] = &[
        '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@',
        '`', '.', '=', '<', '~', ' ', '$', '/', '\\', '^',
    ];
    let is_text = matches!(scalar::read(text), scalar::Scalar::Text(read) if read == text);
    let inner = !text.chars().any(is_hidden);
    is_text
        && inner
        && (!text.starts_with(OPENING) || text.starts_with(['$', '/', '^', '\\']))
        && !matches!(text, "y" | "n" | "Y" | "N")
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
}

/// Signs that end a line, or that nobody sees.
fn is_hidden(sign: char) -> bool {
    sign.is_control() || matches!(sign, '\u{feff}' | '\u{2028}' | '\u{2029}')
}

fn quoted(text: &str) -> String {
    let mut shown = "\"".to_owned();
    for sign in text.chars() {
        match sign {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            sign if is_hidden(sign) => {
                shown.push_str(&format!("\\u{:04X}", u32::from(sign)));
            }
            sign => shown.push(sign),
        }
    }
    shown.push('"');
    shown
}

/// A value on one line, text in quotes.
pub(crate) fn inline(node: &Node) -> String {
    let all = |items: &[Node]| items.iter().map(inline).collect::<Vec<_>>().join(", ");
    match node {
        Node::Null => "null".to_owned(),
        Node::Text(text) => quoted(text),
        Node::List(list) => format!("[{}]", all(list.items())),
        Node::Map(map) => {
            let pair = |(key, value): (&crate::config::node::Key, &Node)| {
                format!("{}: {}", quoted(key.as_str()), inline(value))
            };
            format!("{{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Node::Reference(reference) => format!("!reference [{}]", all(&reference.path)),
        Node::Bool(_) | Node::Int(_) | Node::Float(_) => node.scalar().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::parse, emit};

    fn again(text: &str) -> String {
        emit(parse(text).unwrap().unwrap().as_map().unwrap())
    }

    #[test]
    fn a_configuration_is_shown_as_people_write_it() {
        let text = "---\njob:\n  script:\n  - echo a\n  - |\n    two\n    lines\n  rules:\n  - if: $A == \"b\"\n    when: never\n  empty: []\n";

        assert_eq!(again(text), text);
    }

    #[test]
    fn what_would_be_read_otherwise_is_quoted() {
        for word in [
            "yes",
            "10",
            "1:30",
            "",
            " a",
            "a: b",
            "- a",
            "#a",
            ":a",
            "*a",
            "2022-12-24",
            "y",
            ".pre",
            "a\tb",
            "~",
            "null",
            "a:",
            "!x",
            "@a",
            "a #b",
            "\u{7f}",
        ] {
            let entries = [(
                crate::config::node::Key::text("k".into()),
                crate::config::node::Node::of_text(word),
            )];
            let map = crate::config::node::Map::new(entries.into_iter().collect());
            let text = emit(&map);
            let read = parse(&text).unwrap().unwrap();
            assert_eq!(read.as_map().unwrap().get("k").unwrap().as_text(), Some(word), "{text}");
        }
    }
}
