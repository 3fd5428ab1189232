//! Text as it was written.

/// A whole text, with its line breaks.
pub(crate) fn shown(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8 + 16);
    html.push_str("<pre>");
    push_escaped_html(text, &mut html);
    html.push_str("</pre>\n");
    html
}

/// A text as HTML or XML, in which nothing is taken for a tag, an entity or the end of an attribute.
pub fn escaped_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    push_escaped_html(text, &mut html);
    html
}

/// Adds a text as [`escaped_html`] makes it.
pub(crate) fn push_escaped_html(text: &str, into: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\0' => into.push('\u{fffd}'),
            letter => into.push(letter),
        }
    }
}
