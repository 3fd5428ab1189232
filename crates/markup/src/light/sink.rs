//! Blocks as HTML: headings, paragraphs, lists, code, quotes and tables.

use std::collections::HashMap;

use super::{Dialect, inline};
use crate::{
    Links,
    bounds::{DEEPEST_LIST, MOST_ANCHORS},
    plain::push_escaped_html,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Bullets,
    Numbers,
    /// Terms with what they mean.
    Terms,
}

impl List {
    fn tag(self) -> &'static str {
        match self {
            Self::Bullets => "ul",
            Self::Numbers => "ol",
            Self::Terms => "dl",
        }
    }

    fn item(self) -> &'static str {
        match self {
            Self::Terms => "dd",
            _ => "li",
        }
    }
}

/// Whether a list item has a box, and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checkbox {
    None,
    Open,
    Done,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Paragraph,
    /// The text of a list item.
    Item,
}

pub(super) struct Sink<'a> {
    html: String,
    dialect: Dialect,
    links: &'a Links<'a>,
    /// Each list that is open, with the indent of its items.
    lists: Vec<(List, usize)>,
    text: String,
    kind: Text,
    quotes: usize,
    in_table: bool,
    anchors: HashMap<String, usize>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(dialect: Dialect, links: &'a Links<'a>, size: usize) -> Self {
        Self {
            html: String::with_capacity(size.saturating_mul(2)),
            dialect,
            links,
            lists: Vec::new(),
            text: String::new(),
            kind: Text::Paragraph,
            quotes: 0,
            in_table: false,
            anchors: HashMap::new(),
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.end_blocks();
        while self.quotes > 0 {
            self.close_quote();
        }
        self.html
    }

    /// Another line of the paragraph or list item that is being read.
    pub(super) fn line(&mut self, line: &str) {
        self.end_table();
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line.trim());
    }

    pub(super) fn has_text(&self) -> bool {
        !self.text.is_empty()
    }

    pub(super) fn in_list(&self) -> bool {
        !self.lists.is_empty()
    }

    pub(super) fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        let kind = std::mem::take(&mut self.kind);
        if text.is_empty() {
            return;
        }
        if kind == Text::Paragraph {
            self.html.push_str("<p>");
        }
        self.inline(&text);
        if kind == Text::Paragraph {
            self.html.push_str("</p>\n");
        }
    }

    pub(super) fn end_lists(&mut self) {
        self.end_text();
        while self.lists.last().is_some() {
            self.close_list();
        }
    }

    fn close_list(&mut self) {
        if let Some((list, _)) = self.lists.pop() {
            self.html.push_str(&format!("</{}></{}>\n", list.item(), list.tag()));
        }
    }

    fn end_table(&mut self) {
        if std::mem::take(&mut self.in_table) {
            self.html.push_str("</tbody></table>\n");
        }
    }

    /// Paragraphs, lists and tables are over; quotes are not.
    pub(super) fn end_blocks(&mut self) {
        self.end_lists();
        self.end_table();
    }

    pub(super) fn heading(&mut self, level: usize, text: &str) {
        self.end_blocks();
        let level = level.clamp(1, 6);
        match self.anchor(text) {
            Some(id) => {
                self.html.push_str(&format!("<h{level} id=\""));
                push_escaped_html(&id, &mut self.html);
                self.html.push_str("\">");
            }
            None => self.html.push_str(&format!("<h{level}>")),
        }
        self.inline(text);
        self.html.push_str(&format!("</h{level}>\n"));
    }

    /// A name for a heading that no other has.
    fn anchor(&mut self, text: &str) -> Option<String> {
        if self.anchors.len() >= MOST_ANCHORS {
            return None;
        }
        let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let name: String = kept
            .map(|c| if c == ' ' { '-' } else { c })
            .take(200)
            .collect::<String>()
            .to_lowercase();
        let count = self.anchors.entry(name.clone()).or_insert(0);
        *count += 1;
        Some(if *count == 1 { name } else { format!("{name}-{}", *count - 1) })
    }

    /// An item of a list. `indent` tells which items are of the same list, and which lie in another item.
    pub(super) fn item(&mut self, list: List, indent: usize, tick: Checkbox, text: &str) {
        self.begin_item(list, indent);
        match tick {
            Checkbox::None => {}
            Checkbox::Open => self.html.push_str("<input type=\"checkbox\" disabled> "),
            Checkbox::Done => self.html.push_str("<input type=\"checkbox\" disabled checked> "),
        }
        self.kind = Text::Item;
        self.text.push_str(text.trim());
    }

    /// A term and the beginning of what it means.
    pub(super) fn term(&mut self, indent: usize, term: &str, text: &str) {
        self.close_deeper(List::Terms, indent);
        if self.lists.last() == Some(&(List::Terms, indent)) {
            self.html.push_str("</dd>\n");
        } else {
            self.lists.push((List::Terms, indent));
            self.html.push_str("<dl>\n");
        }
        self.html.push_str("<dt>");
        self.inline(term);
        self.html.push_str("</dt>\n<dd>");
        self.kind = Text::Item;
        self.text.push_str(text.trim());
    }

    fn begin_item(&mut self, list: List, indent: usize) {
        self.close_deeper(list, indent);
        if self.lists.last().is_some_and(|(open, at)| *open == list && *at == indent) {
            self.html.push_str("</li>\n<li>");
            return;
        }
        self.lists.push((list, indent));
        self.html.push_str(&format!("<{}>\n<li>", list.tag()));
    }

    /// Closes what cannot hold an item of this kind at this place.
    fn close_deeper(&mut self, list: List, indent: usize) {
        self.end_text();
        self.end_table();
        while let Some((open, at)) = self.lists.last() {
            let other = *at == indent && *open != list;
            let full = *at < indent && self.lists.len() >= DEEPEST_LIST;
            if *at > indent || other || full {
                self.close_list();
            } else {
                break;
            }
        }
    }

    pub(super) fn code(&mut self, language: Option<&str>, text: &str) {
        self.end_text();
        self.end_table();
        self.html.push_str("<pre");
        if let Some(language) = language.filter(|name| !name.is_empty()) {
            self.html.push_str(" lang=\"");
            push_escaped_html(language, &mut self.html);
            self.html.push('"');
        }
        self.html.push_str("><code>");
        push_escaped_html(text, &mut self.html);
        self.html.push_str("</code></pre>\n");
    }

    pub(super) fn open_quote(&mut self) {
        self.end_blocks();
        if self.quotes < DEEPEST_LIST {
            self.quotes += 1;
            self.html.push_str("<blockquote>\n");
        }
    }

    pub(super) fn close_quote(&mut self) {
        self.end_blocks();
        if self.quotes > 0 {
            self.quotes -= 1;
            self.html.push_str("</blockquote>\n");
        }
    }

    /// A remark that stands out, with its name.
    pub(super) fn remark(&mut self, name: &str, text: &str) {
        self.end_blocks();
        self.html.push_str("<blockquote><p><strong>");
        push_escaped_html(name, &mut self.html);
        self.html.push_str("</strong> ");
        self.inline(text);
        self.html.push_str("</p></blockquote>\n");
    }

    pub(super) fn rule(&mut self) {
        self.end_blocks();
        self.html.push_str("<hr>\n");
    }

    pub(super) fn picture(&mut self, target: &str, alt: &str) {
        self.end_text();
        self.end_table();
        self.html.push_str("<p>");
        inline::picture(self.links, target, alt, &mut self.html);
        self.html.push_str("</p>\n");
    }

    /// A row of a table; the first one begins it.
    pub(super) fn row<'t>(&mut self, cells: impl Iterator<Item = &'t str>, head: bool) {
        self.end_text();
        if !self.in_table {
            self.end_lists();
            self.in_table = true;
            self.html.push_str("<table><tbody>\n");
        }
        let tag = if head { "th" } else { "td" };
        self.html.push_str("<tr>");
        for cell in cells {
            self.html.push_str(&format!("<{tag}>"));
            self.inline(cell.trim());
            self.html.push_str(&format!("</{tag}>"));
        }
        self.html.push_str("</tr>\n");
    }

    fn inline(&mut self, text: &str) {
        inline::write(text, self.dialect, self.links, &mut self.html);
    }
}
