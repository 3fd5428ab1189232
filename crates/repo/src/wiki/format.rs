//! The languages that pages are written in, told by the ending of their file.

kernel::text_enum! {
    /// The languages that a page can be given through the API.
    pub enum PageFormat { Markdown = "markdown", Rdoc = "rdoc", Asciidoc = "asciidoc", Org = "org" }
}

impl PageFormat {
    /// The ending of new files, without its dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Rdoc => "rdoc",
            Self::Asciidoc => "asciidoc",
            Self::Org => "org",
        }
    }
}

/// The language of a file that git may have brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Markup(&'static str);

impl Markup {
    /// What an ending, without its dot, stands for; `None` when such files are no pages.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Some(Self(match ending.to_ascii_lowercase().as_str() {
            "md" | "mkd" | "mkdn" | "mdown" | "markdown" => "markdown",
            "rdoc" => "rdoc",
            "adoc" | "asciidoc" => "asciidoc",
            "org" => "org",
            "textile" => "textile",
            "creole" => "creole",
            "rst" | "rest" => "rest",
            "mediawiki" | "wiki" => "mediawiki",
            "pod" => "pod",
            "txt" => "plaintext",
            _ => return None,
        }))
    }

    pub fn as_str(self) -> &'static str {
        self.0
    }

    pub fn is(self, format: PageFormat) -> bool {
        self.0 == kernel::TextEnum::as_str(format)
    }
}
