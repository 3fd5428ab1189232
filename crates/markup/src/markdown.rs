//! Markdown as GitHub and its kin write it, with links between the pages of a wiki.

use std::cell::Cell;

use comrak::{
    Arena, Options,
    arena_tree::NodeEdge,
    format_html,
    nodes::{AstNode, NodeValue},
    try_parse_document,
};

use crate::{
    Links,
    bounds::{DEEPEST, MOST_ANCHORS, MOST_PIECES, MOST_STEPS},
    raw_html::Tidiness,
};

/// The HTML, not yet sanitised; nothing for a text that is too deep or too finely cut.
pub(crate) fn render(text: &str, links: &Links<'_>) -> Option<String> {
    counted(text, links).0
}

/// The same, with the steps that reading took.
pub(crate) fn counted(text: &str, links: &Links<'_>) -> (Option<String>, u32) {
    let asked = Cell::new(0);
    (render_within(text, links, &asked), asked.get())
}

fn render_within(text: &str, links: &Links<'_>, asked: &Cell<u32>) -> Option<String> {
    if is_nested_too_deep(text) {
        return None;
    }
    let mut options = options();
    let arena = Arena::new();
    // Asked once in a fixed number of steps, so that a text costs the same on every machine.
    let too_much = || {
        asked.set(asked.get() + 1);
        asked.get() > MOST_STEPS
    };
    let root = try_parse_document(&arena, text, &options, &too_much).ok()?;
    let look = summarize(root, links)?;
    options.render.r#unsafe = look.tidy;
    options.render.escape = !look.tidy;
    if look.headings <= MOST_ANCHORS {
        options.extension.header_id_prefix = Some(String::new());
    }
    let mut html = String::with_capacity(text.len() * 2);
    format_html(root, &options, &mut html).ok()?;
    Some(html)
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.footnotes = true;
    extension.alerts = true;
    extension.description_lists = false;
    extension.wikilinks_title_before_pipe = true;
    extension.front_matter_delimiter = Some("---".to_owned());
    options.render.tasklist_classes = true;
    options
}

/// Quotes inside of quotes cost the reader of Markdown one look each, in every line.
fn is_nested_too_deep(text: &str) -> bool {
    text.lines().any(|line| {
        let start = line.bytes().take_while(|byte| b"> \t".contains(byte));
        start.filter(|byte| *byte == b'>').count() > DEEPEST / 2
    })
}

struct DocumentSummary {
    headings: usize,
    /// Whether the HTML in the text may go on to the sanitiser; otherwise it is shown as text.
    tidy: bool,
}

/// Goes once over the whole text: counts, and resolves links.
fn summarize<'a>(root: &'a AstNode<'a>, links: &Links<'_>) -> Option<DocumentSummary> {
    let (mut depth, mut pieces, mut headings) = (0_usize, 0_usize, 0_usize);
    let (mut tidiness, mut tidy) = (Tidiness::default(), true);
    for edge in root.traverse() {
        let node = match edge {
            NodeEdge::Start(node) => node,
            NodeEdge::End(node) => {
                depth -= 1;
                tidy = tidy && (!node.data().value.block() || tidiness.block_ends());
                continue;
            }
        };
        depth += 1;
        pieces += 1;
        if depth > DEEPEST || pieces > MOST_PIECES {
            return None;
        }
        match &mut node.data_mut().value {
            NodeValue::Heading(_) => headings += 1,
            NodeValue::Link(link) | NodeValue::Image(link) => link.url = links.resolve(&link.url),
            NodeValue::WikiLink(link) => link.url = links.page(&link.url),
            NodeValue::HtmlBlock(block) => tidy = tidy && tidiness.takes(&block.literal),
            NodeValue::HtmlInline(html) => tidy = tidy && tidiness.takes(html.as_str()),
            _ => {}
        }
    }
    Some(DocumentSummary { headings, tidy: tidy && tidiness.is_whole() })
}
