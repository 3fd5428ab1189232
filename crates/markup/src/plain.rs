//! Text as it was written.

/// A whole text, with its line breaks.
pub(crate) fn shown(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8 + 16);
    html.push_str("<pre>");
    escape(text, &mut html);
    html.push_str("</pre>\n");
    html
}

/// Adds text so that nothing in it is taken for HTML, inside of attributes neither.
pub(crate) fn escape(text: &str, into: &mut String) {
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
