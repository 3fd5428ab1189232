//! Inline markup: emphasis, code, links and images.
//!
//! One pass from left to right. A sign that may open something is kept as text until the sign that closes it comes; a
//! search for a closing sign that failed once is not made again.

use std::collections::HashMap;

use super::Dialect;
use crate::{Links, plain::push_escaped_html};

/// The target and the words of a link may have so many bytes.
const LONGEST_LINK: usize = 2_000;

/// The formatting that a sign applies to the words up to the next one.
#[derive(Clone, Copy)]
enum Sign {
    Style(&'static str),
    /// Nothing inside is looked at.
    Code,
}

impl Dialect {
    fn sign(self, byte: u8) -> Option<Sign> {
        Some(match (self, byte) {
            (_, b'*') => Sign::Style("strong"),
            (Self::Asciidoc | Self::Rdoc, b'_') | (Self::Org, b'/') => Sign::Style("em"),
            (Self::Org, b'_') => Sign::Style("u"),
            (Self::Org, b'+') => Sign::Style("del"),
            (Self::Asciidoc, b'#') => Sign::Style("mark"),
            (Self::Asciidoc, b'^') => Sign::Style("sup"),
            (Self::Asciidoc, b'~') => Sign::Style("sub"),
            (Self::Asciidoc | Self::Rdoc, b'`') | (Self::Org, b'=' | b'~') | (Self::Rdoc, b'+') => {
                Sign::Code
            }
            _ => return None,
        })
    }
}

/// Writes a text with its signs as HTML.
pub(super) fn write(text: &str, dialect: Dialect, links: &Links<'_>, html: &mut String) {
    let mut scan = Scan {
        text,
        dialect,
        links,
        pieces: Vec::new(),
        plain: String::new(),
        open: Vec::new(),
        ahead: HashMap::new(),
        at: 0,
    };
    scan.run();
    for piece in &scan.pieces {
        html.push_str(piece);
    }
}

pub(super) fn picture(links: &Links<'_>, target: &str, alt: &str, html: &mut String) {
    html.push_str("<img src=\"");
    push_escaped_html(&links.resolve(target.trim()), html);
    html.push_str("\" alt=\"");
    push_escaped_html(alt.trim(), html);
    html.push_str("\">");
}

struct Scan<'a> {
    text: &'a str,
    dialect: Dialect,
    links: &'a Links<'a>,
    pieces: Vec<String>,
    /// Escaped text that is not among the pieces yet.
    plain: String,
    /// Signs that wait for their end, with the place of each among the pieces.
    open: Vec<(u8, usize)>,
    /// Where each closing sign comes next; `usize::MAX` where it comes no more.
    ahead: HashMap<&'static str, usize>,
    at: usize,
}

impl<'a> Scan<'a> {
    fn run(&mut self) {
        while let Some(byte) = self.text.as_bytes().get(self.at).copied() {
            if self.link(byte) || self.sign(byte) {
                continue;
            }
            self.letter();
        }
        self.flush();
    }

    /// One letter as it is.
    fn letter(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.chars().next().map_or(1, char::len_utf8);
        push_escaped_html(&rest[..length], &mut self.plain);
        self.at += length;
    }

    fn flush(&mut self) {
        if !self.plain.is_empty() {
            self.pieces.push(std::mem::take(&mut self.plain));
        }
    }

    fn is_word_before(&self) -> bool {
        self.text[..self.at].chars().next_back().is_some_and(char::is_alphanumeric)
    }

    fn opens(&self, after: usize) -> bool {
        let next = self.text[after..].chars().next();
        !self.is_word_before() && next.is_some_and(|next| !next.is_whitespace())
    }

    /// Whether a sign at `at`, which ends at `after`, may close.
    fn closes(&self, at: usize, after: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let next = self.text[after..].chars().next();
        before.is_some_and(|before| !before.is_whitespace())
            && !next.is_some_and(char::is_alphanumeric)
    }

    fn sign(&mut self, byte: u8) -> bool {
        match self.dialect.sign(byte) {
            None => false,
            Some(Sign::Code) => self.code(byte),
            Some(Sign::Style(tag)) => self.style(byte, tag),
        }
    }

    fn style(&mut self, byte: u8, tag: &'static str) -> bool {
        // Doubled signs, which AsciiDoc knows, mean the same.
        let doubled = self.dialect == Dialect::Asciidoc
            && self.text.as_bytes().get(self.at + 1) == Some(&byte);
        let after = self.at + if doubled { 2 } else { 1 };
        let waiting = self.open.iter().rposition(|(open, _)| *open == byte);
        if let Some(place) = waiting {
            if !doubled && !self.closes(self.at, after) {
                return false;
            }
            self.flush();
            if let Some((_, piece)) = self.open.get(place).copied() {
                self.pieces[piece] = format!("<{tag}>");
            }
            // What opened inside and did not close stays text.
            self.open.truncate(place);
            self.pieces.push(format!("</{tag}>"));
        } else if doubled || self.opens(after) {
            self.flush();
            self.open.push((byte, self.pieces.len()));
            let mut literal = String::new();
            push_escaped_html(&self.text[self.at..after], &mut literal);
            self.pieces.push(literal);
        } else {
            return false;
        }
        self.at = after;
        true
    }

    fn code(&mut self, byte: u8) -> bool {
        let sign = match byte {
            b'`' => "`",
            b'=' => "=",
            b'~' => "~",
            _ => "+",
        };
        if !self.opens(self.at + 1) {
            return false;
        }
        // At least one letter stands between the two.
        let letter = self.text[self.at + 1..].chars().next().map_or(1, char::len_utf8);
        let mut from = self.at + 1 + letter;
        let end = loop {
            let Some(end) = self.next(sign, from) else { return false };
            if self.closes(end, end + 1) {
                break end;
            }
            from = end + 1;
            // Where this one cannot close, no search has to stop again.
            self.ahead.insert(sign, usize::MAX);
            let Some(next) = self.text.get(from..).and_then(|rest| rest.find(sign)) else {
                return false;
            };
            self.ahead.insert(sign, from + next);
        };
        self.flush();
        let mut piece = "<code>".to_owned();
        push_escaped_html(&self.text[self.at + 1..end], &mut piece);
        piece.push_str("</code>");
        self.pieces.push(piece);
        self.at = end + 1;
        true
    }

    /// Where `needle` comes next from `from` on. Each stretch of text is searched once.
    fn next(&mut self, needle: &'static str, from: usize) -> Option<usize> {
        match self.ahead.get(needle) {
            Some(known) if *known == usize::MAX => return None,
            Some(known) if *known >= from => return Some(*known),
            _ => {}
        }
        let found = self.text.get(from..).and_then(|rest| rest.find(needle)).map(|at| from + at);
        self.ahead.insert(needle, found.unwrap_or(usize::MAX));
        found
    }

    fn link(&mut self, byte: u8) -> bool {
        match (self.dialect, byte) {
            (Dialect::Org, b'[') => self.org_link(),
            (Dialect::Rdoc, b'{') => self.rdoc_link(),
            (Dialect::Asciidoc, b'l') => self.macro_link("link:"),
            (Dialect::Asciidoc, b'x') => self.macro_link("xref:"),
            (Dialect::Asciidoc, b'i') => self.macro_link("image:"),
            (Dialect::Asciidoc, b'<') => self.reference(),
            (_, b'h') => self.address(),
            _ => false,
        }
    }

    fn starts_with(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    /// The text from `from` to the next `end`, on one line and not too long.
    fn until(&mut self, from: usize, end: &'static str) -> Option<&'a str> {
        let at = self.next(end, from)?;
        let inside = self.text.get(from..at)?;
        (inside.len() <= LONGEST_LINK && !inside.contains('\n')).then_some(inside)
    }

    fn push_link(&mut self, target: &str, words: &str) {
        self.flush();
        let mut piece = "<a href=\"".to_owned();
        push_escaped_html(target, &mut piece);
        piece.push_str("\">");
        push_escaped_html(words, &mut piece);
        piece.push_str("</a>");
        self.pieces.push(piece);
    }

    /// `[[target][words]]` and `[[target]]`
    fn org_link(&mut self) -> bool {
        if !self.starts_with("[[") {
            return false;
        }
        let Some(inside) = self.until(self.at + 2, "]]") else { return false };
        let (target, words) = inside.split_once("][").unwrap_or((inside, inside));
        let target = target.strip_prefix("file:").unwrap_or(target);
        if words == target && is_picture(target) {
            self.push_picture(target, "");
        } else {
            let to = match target.contains('/') || target.contains('.') {
                true => self.links.resolve(target),
                false => self.links.page(target),
            };
            self.push_link(&to, words);
        }
        self.at += inside.len() + 4;
        true
    }

    /// `{words}[target]`
    fn rdoc_link(&mut self) -> bool {
        let Some(words) = self.until(self.at + 1, "}") else { return false };
        let after = self.at + 1 + words.len() + 1;
        if !self.text[after..].starts_with('[') {
            return false;
        }
        let Some(target) = self.until(after + 1, "]") else { return false };
        let to = self.links.resolve(target.strip_prefix("link:").unwrap_or(target));
        self.push_link(&to, words);
        self.at = after + target.len() + 2;
        true
    }

    /// `link:target[words]` and its kin
    fn macro_link(&mut self, name: &'static str) -> bool {
        if !self.starts_with(name) || self.is_word_before() {
            return false;
        }
        let from = self.at + name.len();
        let Some(target) = self.until(from, "[") else { return false };
        if target.is_empty() || target.contains(char::is_whitespace) || target.starts_with(':') {
            return false;
        }
        let Some(words) = self.until(from + target.len() + 1, "]") else { return false };
        self.at = from + target.len() + words.len() + 2;
        if name == "image:" {
            let alt = words.split(',').next().unwrap_or_default();
            self.push_picture(target, alt);
            return true;
        }
        let words = words.trim_end_matches('^');
        let words = if words.is_empty() { target } else { words };
        let target = target.strip_suffix(".adoc").unwrap_or(target);
        let to = self.links.resolve(target);
        self.push_link(&to, words);
        true
    }

    /// `<<place,words>>`
    fn reference(&mut self) -> bool {
        if !self.starts_with("<<") {
            return false;
        }
        let Some(inside) = self.until(self.at + 2, ">>") else { return false };
        let (place, words) = inside.split_once(',').unwrap_or((inside, inside));
        self.push_link(&format!("#{}", place.trim().trim_start_matches('#')), words.trim());
        self.at += inside.len() + 4;
        true
    }

    /// `https://…`, in `AsciiDoc` with words in brackets behind it
    fn address(&mut self) -> bool {
        if !(self.starts_with("https://") || self.starts_with("http://")) || self.is_word_before() {
            return false;
        }
        let rest = &self.text[self.at..];
        let ends = |letter: char| letter.is_whitespace() || "<>\"[]{}|".contains(letter);
        let address = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let after = self.at + address.len();
        if address.len() > LONGEST_LINK {
            // Passed over as a whole: it may hold the beginning of many more.
            push_escaped_html(address, &mut self.plain);
            self.at = after;
            return true;
        }
        if self.dialect == Dialect::Asciidoc
            && self.text[after..].starts_with('[')
            && let Some(words) = self.until(after + 1, "]")
        {
            let shown = words.trim_end_matches('^');
            self.push_link(address, if shown.is_empty() { address } else { shown });
            self.at = after + words.len() + 2;
            return true;
        }
        let address = address.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '*', '_']);
        self.push_link(address, address);
        self.at += address.len();
        true
    }

    fn push_picture(&mut self, target: &str, alt: &str) {
        self.flush();
        let mut piece = String::new();
        picture(self.links, target, alt, &mut piece);
        self.pieces.push(piece);
    }
}

fn is_picture(target: &str) -> bool {
    let ending = target.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp"].contains(&ending)
}
