//! HTML inside of Markdown: whether it is so tidy that it may be passed on to the sanitiser.
//!
//! The sanitiser reads HTML as browsers do, and how they mend what is broken takes ever longer the more there is of it.
//! Tags that are well known, in order and not too many cost what they weigh; any others are shown as text.

use crate::bounds::{DEEPEST, LONGEST_TAG, MOST_TAGS};

/// Elements that may hold whole blocks, and may end in another piece of HTML than they began in.
const AROUND: [&str; 11] = [
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "div",
    "figure",
    "footer",
    "header",
    "section",
    "summary",
];
const LISTS: [&str; 3] = ["dl", "ol", "ul"];
/// Their ends may be left out; how deep they lie is told by what is around them.
const LOOSE: [&str; 5] = ["dd", "dt", "li", "p", "figcaption"];
const TABLE: [&str; 10] =
    ["caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"];
const INLINE: [&str; 36] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "h1", "h2",
    "h3", "h4", "h5", "h6", "i", "ins", "kbd", "mark", "pre", "q", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "tt", "u", "var", "time",
];
const VOID: [&str; 4] = ["br", "hr", "img", "wbr"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Around,
    Loose,
    Table,
    Inline,
    Void,
}

fn kind_of(name: &str) -> Option<Kind> {
    let has = |names: &[&str]| names.contains(&name);
    match () {
        () if has(&AROUND) || has(&LISTS) => Some(Kind::Around),
        () if has(&LOOSE) => Some(Kind::Loose),
        () if has(&TABLE) => Some(Kind::Table),
        () if has(&INLINE) => Some(Kind::Inline),
        () if has(&VOID) => Some(Kind::Void),
        () => None,
    }
}

/// The open elements of a text's HTML.
#[derive(Default)]
pub(crate) struct Tidiness {
    open: Vec<String>,
    tags: usize,
}

impl Tidiness {
    /// Reads the next piece of HTML of a text; false when it is not tidy.
    pub(crate) fn takes(&mut self, html: &str) -> bool {
        let mut rest = html;
        while let Some(at) = rest.find('<') {
            rest = &rest[at..];
            let Some(length) = self.tag(rest) else { return false };
            rest = &rest[length..];
        }
        true
    }

    /// A block of the text is over: only what may go on around other blocks may be open.
    pub(crate) fn block_ends(&self) -> bool {
        self.open.iter().all(|name| kind_of(name) == Some(Kind::Around))
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.open.is_empty()
    }

    /// Reads one tag or comment and tells its length.
    fn tag(&mut self, text: &str) -> Option<usize> {
        self.tags += 1;
        if self.tags > MOST_TAGS {
            return None;
        }
        if let Some(comment) = text.strip_prefix("<!--") {
            return comment.find("-->").map(|at| at + 7);
        }
        let closes = text.starts_with("</");
        let named = &text[if closes { 2 } else { 1 }..];
        let length = named.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if length == 0 {
            // Not a tag at all: browsers show it.
            return (!named.starts_with(['!', '?', '/'])).then_some(1);
        }
        let end = end_of_tag(text)?;
        let name = named[..length].to_ascii_lowercase();
        let kind = kind_of(&name)?;
        match kind {
            Kind::Void | Kind::Loose => {}
            _ if closes => (self.open.pop()? == name).then_some(())?,
            _ => {
                self.open.push(name);
                (self.open.len() < DEEPEST / 2).then_some(())?;
            }
        }
        Some(end)
    }
}

/// Where a tag ends, by bytes from its beginning; values in quotes may hold anything.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().take(LONGEST_TAG) {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Tidiness;

    fn is_tidy(html: &str) -> bool {
        let mut tidiness = Tidiness::default();
        tidiness.takes(html) && tidiness.block_ends() && tidiness.is_whole()
    }

    #[test]
    fn only_known_tags_in_order_are_tidy() {
        for html in [
            "<b>x</b>",
            "<div align=center><img src='a>b.png'><br></div>",
            "<table><tr><td>1</td></tr></table>",
            "<!-- a <b> comment -->",
            "<ul><li>one<li>two</ul>",
            "1 < 2",
        ] {
            assert!(is_tidy(html), "{html}");
        }
        for html in [
            "<b>",
            "</b>",
            "<b><i></b></i>",
            "<script>alert(1)</script>",
            "<svg/onload=alert(1)>",
            "<b title=\"",
            "<!-- no end",
            "<!DOCTYPE html>",
            "<plaintext>",
            &"<div>".repeat(10_000),
            &"<br>".repeat(10_000),
            &format!("<b {}>x</b>", "a ".repeat(2_000)),
        ] {
            assert!(!is_tidy(html), "{html:.40}");
        }
    }
}
