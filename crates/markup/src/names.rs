//! Names in rendered HTML that become links. What they name is for others to find out.

use std::ops::Range;

use crate::plain::push_escaped_html;

/// A link that takes the place of a part of a text.
#[derive(Clone, Debug)]
pub struct NameLink {
    /// The bytes of the text.
    pub at: Range<usize>,
    pub address: String,
    /// What is told of it before anybody follows the link.
    pub title: String,
    pub class: &'static str,
    pub text: String,
}

/// So many links are made of one text at most.
const MOST: usize = 5_000;
/// In these nothing is a name.
const CLOSED: [&str; 6] = ["a", "code", "kbd", "pre", "samp", "tt"];

/// The texts of rendered HTML in which names count: those outside of links and code.
pub fn texts(html: &str) -> Vec<String> {
    let open = Pieces::of(html).filter_map(|piece| match piece {
        Piece::Open(text) => Some(unescaped(text)),
        Piece::Other(_) => None,
    });
    open.collect()
}

/// The same HTML with links in these texts. `find` is given each text, and answers in its order.
pub fn with_names(html: &str, find: impl Fn(&str) -> Vec<NameLink>) -> String {
    let mut linked = String::with_capacity(html.len() + html.len() / 4);
    let mut made = 0;
    for piece in Pieces::of(html) {
        let text = match piece {
            Piece::Other(html) => {
                linked.push_str(html);
                continue;
            }
            Piece::Open(text) => text,
        };
        let plain = unescaped(text);
        let mut links = if made < MOST { find(&plain) } else { Vec::new() };
        links.truncate(MOST - made);
        made += links.len();
        if links.is_empty() {
            linked.push_str(text);
        } else {
            link(&plain, &links, &mut linked);
        }
    }
    linked
}

fn link(plain: &str, links: &[NameLink], into: &mut String) {
    let mut done = 0;
    for link in links {
        let Some(before) = plain.get(done..link.at.start) else { continue };
        push_escaped_html(before, into);
        for (start, value) in [
            ("<a href=\"", link.address.as_str()),
            ("\" title=\"", &link.title),
            ("\" class=\"", link.class),
            ("\">", &link.text),
        ] {
            into.push_str(start);
            push_escaped_html(value, into);
        }
        into.push_str("</a>");
        done = link.at.end;
    }
    push_escaped_html(plain.get(done..).unwrap_or_default(), into);
}

enum Piece<'h> {
    /// Text in which names count, as it is written in HTML.
    Open(&'h str),
    /// Tags, and text in which they do not.
    Other(&'h str),
}

/// Goes through HTML that the sanitiser has written: each `<` begins a tag, and tags are closed.
struct Pieces<'h> {
    left: &'h str,
    /// How many elements are open in which nothing is a name.
    closed: usize,
}

impl<'h> Pieces<'h> {
    fn of(html: &'h str) -> Self {
        Self { left: html, closed: 0 }
    }

    fn split(&mut self, length: usize) -> &'h str {
        let (piece, left) = self.left.split_at(length);
        self.left = left;
        piece
    }
}

impl<'h> Iterator for Pieces<'h> {
    type Item = Piece<'h>;

    fn next(&mut self) -> Option<Piece<'h>> {
        if self.left.is_empty() {
            return None;
        }
        if !self.left.starts_with('<') {
            let text = self.split(self.left.find('<').unwrap_or(self.left.len()));
            return Some(if self.closed == 0 { Piece::Open(text) } else { Piece::Other(text) });
        }
        let tag = self.split(length_of_tag(self.left));
        let inner = tag.trim_start_matches(['<', '/']);
        let end = inner.find(|letter: char| !letter.is_ascii_alphanumeric());
        if CLOSED.contains(&&inner[..end.unwrap_or(inner.len())]) {
            match tag.starts_with("</") {
                true => self.closed = self.closed.saturating_sub(1),
                false => self.closed += 1,
            }
        }
        Some(Piece::Other(tag))
    }
}

/// Up to the first `>` that is no part of an attribute.
fn length_of_tag(html: &str) -> usize {
    let mut is_quoted = false;
    for (at, byte) in html.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'>' if !is_quoted => return at + 1,
            _ => {}
        }
    }
    html.len()
}

/// The entities that the sanitiser writes.
const ENTITIES: [(&str, char); 6] = [
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&nbsp;", '\u{a0}'),
];

pub(crate) fn unescaped(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut left = html;
    while let Some(at) = left.find('&') {
        text.push_str(&left[..at]);
        left = &left[at..];
        let known = ENTITIES.iter().find(|(entity, _)| left.starts_with(entity));
        let (entity, letter) = known.copied().unwrap_or(("&", '&'));
        text.push(letter);
        left = &left[entity.len()..];
    }
    text.push_str(left);
    text
}

#[cfg(test)]
mod tests {
    use super::{NameLink, texts, with_names};
    use crate::{Format, Links, render};

    /// Links every `@ada`.
    fn linked(text: &str) -> String {
        let html = render(text, Format::Markdown, &Links::none());
        with_names(&html, |text| {
            let found = text.match_indices("@ada").map(|(at, name)| NameLink {
                at: at..at + name.len(),
                address: "/ada?a&b".to_owned(),
                title: "Ada \"L\" <x>".to_owned(),
                class: "gfm",
                text: name.to_owned(),
            });
            found.collect()
        })
    }

    #[test]
    fn names_become_links_and_the_rest_stays() {
        let link =
            "<a href=\"/ada?a&amp;b\" title=\"Ada &quot;L&quot; &lt;x&gt;\" class=\"gfm\">@ada</a>";
        assert_eq!(
            linked("hi @ada & **@ada**"),
            format!("<p>hi {link} &amp; <strong>{link}</strong></p>\n")
        );
    }

    #[test]
    fn links_and_code_are_left_alone() {
        for text in [
            "[x @ada](/y)",
            "`@ada`",
            "```\n@ada\n```",
            "    @ada",
            "<a href=\"/x\"><b>@ada</b></a>",
        ] {
            assert!(!linked(text).contains("/ada"), "{text}");
        }
        assert!(linked("`x` @ada").contains("/ada"));
        assert!(linked("![a > b](x.png) @ada").contains("/ada"));
    }

    #[test]
    fn texts_are_read_as_they_were_written() {
        let html = render("&1 <b>2 < 3</b> `4`", Format::Markdown, &Links::none());
        assert_eq!(texts(&html).concat(), "&1 2 < 3 \n");
    }

    #[test]
    fn a_hostile_text_takes_no_longer_than_it_is_long() {
        let text = "@ada ".repeat(200_000);
        assert_eq!(linked(&text).matches("<a ").count(), super::MOST);
        let many = "@ada\n\n".repeat(20_000);
        assert_eq!(linked(&many).matches("<a ").count(), super::MOST);
    }
}
