//! The pictures that a status may show, by their short names.

/// The picture of this name.
pub fn find(name: &str) -> Option<&'static emojis::Emoji> {
    emojis::get_by_shortcode(name)
}

/// A line of text as HTML, with the pictures that it names as `:name:`.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(':') {
        let (before, from) = rest.split_at(start);
        escape(before, &mut out);
        let name = from[1..].split_once(':').map(|(name, _)| name);
        match name.and_then(|name| Some((name, find(name)?))) {
            Some((name, emoji)) => {
                picture(name, emoji, &mut out);
                rest = &from[name.len() + 2..];
            }
            None => {
                out.push(':');
                rest = &from[1..];
            }
        }
    }
    escape(rest, &mut out);
    out
}

fn picture(name: &str, emoji: &emojis::Emoji, out: &mut String) {
    let version = emoji.unicode_version();
    let (title, shown) = (emoji.name(), emoji.as_str());
    out.push_str("<gl-emoji title=\"");
    escape(title, out);
    out.push_str("\" data-name=\"");
    escape(name, out);
    out.push_str(&format!(
        "\" data-unicode-version=\"{}.{}\">{shown}</gl-emoji>",
        version.major(),
        version.minor()
    ));
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn text_stays_text_and_names_become_pictures() {
        assert_eq!(html("<b>5 > 3 & \"x\"</b>"), "&lt;b&gt;5 &gt; 3 &amp; &quot;x&quot;&lt;/b&gt;");
        assert_eq!(html("at 10:30: no"), "at 10:30: no");
        let shown = html("tea :coffee: :nonsense:");
        assert!(
            shown.starts_with("tea <gl-emoji title=\"hot beverage\" data-name=\"coffee\""),
            "{shown}"
        );
        assert!(shown.ends_with("☕</gl-emoji> :nonsense:"), "{shown}");
    }
}
