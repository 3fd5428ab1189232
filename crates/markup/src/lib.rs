//! From what people write to HTML that is safe to show.
//!
//! Four languages are understood: Markdown, `AsciiDoc`, Org and `RDoc`. Whatever is written, the answer passes a sanitiser,
//! and the work is proportional to the length of the text. A text that would break this, because it is too long, too
//! deep or too finely cut, is shown as it was written.

mod bounds;
mod format;
#[doc(hidden)]
pub mod hostile;
mod light;
mod links;
mod markdown;
mod names;
mod pictures;
mod plain;
mod raw_html;
mod sanitize;

pub use format::Format;
pub use links::Links;
pub use names::{NameLink, texts, with_names};
pub use pictures::with_pictures;
pub use plain::escaped_html;

/// The HTML of a text. Links that lead nowhere by themselves are resolved by `links`.
pub fn render(text: &str, format: Format, links: &Links<'_>) -> String {
    if text.len() > bounds::LONGEST {
        return plain::shown(text);
    }
    let html = match format {
        Format::Markdown => markdown::render(text, links),
        Format::Asciidoc => Some(light::asciidoc::render(text, links)),
        Format::Org => Some(light::org::render(text, links)),
        Format::Rdoc => Some(light::rdoc::render(text, links)),
        Format::Plain => None,
    };
    match html {
        Some(html) if html.len() <= bounds::LONGEST_HTML => sanitize::clean(&html),
        _ => plain::shown(text),
    }
}

/// The HTML of one line of Markdown, to stand inside of a paragraph or cell. What turns out to be more than one
/// paragraph keeps its blocks.
pub fn inline(text: &str) -> String {
    let html = render(text, Format::Markdown, &Links::none());
    let only = html.trim_end().strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>"));
    match only {
        Some(inner) if !inner.contains("<p>") && !inner.contains("<p ") => inner.to_owned(),
        _ => html,
    }
}

#[cfg(test)]
mod tests;
