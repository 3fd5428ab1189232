//! The languages that people write in, told by the ending of a file.

/// The markup language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Rdoc,
    Asciidoc,
    Org,
    /// Shown as it is.
    Plain,
}

impl Format {
    /// What the ending of a file, without its dot, says of the content.
    pub fn of_ending(ending: &str) -> Self {
        match ending.to_ascii_lowercase().as_str() {
            "md" | "mkd" | "mkdn" | "mdown" | "markdown" => Self::Markdown,
            "rdoc" => Self::Rdoc,
            "adoc" | "asciidoc" => Self::Asciidoc,
            "org" => Self::Org,
            _ => Self::Plain,
        }
    }
}
