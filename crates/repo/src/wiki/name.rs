//! From the title of a page to its file, and back.

use kernel::{Error, Result};

use crate::git::TreePath;

/// Bytes of the last part of a title.
const LONGEST_NAME: usize = 245;
/// Bytes of a folder in a title.
const LONGEST_FOLDER: usize = 255;

/// Addresses below a wiki that are no pages.
const RESERVED: [&str; 5] = ["pages", "templates", "new", "git_access", "-"];

/// A title as people write it: its folders, and its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(Vec<String>);

impl Title {
    /// Blanks at the ends of each part go, several in a row become one; `.` and `..` are followed.
    pub fn parse(text: &str) -> Self {
        let mut parts: Vec<String> = Vec::new();
        for part in text.split('/') {
            let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
            match part.as_str() {
                "" | "." => {}
                ".." => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        Self(parts)
    }

    /// A new title for a page in `folder`: beside it, unless the title names folders itself.
    pub fn beside(text: &str, folder: &str) -> Self {
        if text.trim().contains('/') || folder.is_empty() {
            return Self::parse(text);
        }
        Self::parse(&format!("{folder}/{text}"))
    }

    /// With its folders.
    pub fn whole(&self) -> String {
        self.0.join("/")
    }

    /// The path of the page's file, without an ending.
    pub fn slug(&self) -> String {
        self.whole().replace(' ', "-")
    }

    /// What is wrong with the title, in the words of the contract.
    pub fn flaws(&self) -> Vec<String> {
        let Some((name, folders)) = self.0.split_last() else {
            return vec!["can't be blank".to_owned()];
        };
        let mut flaws = Vec::new();
        if RESERVED.contains(&self.whole().as_str()) {
            flaws.push(format!("'{}' is a reserved name", self.whole()));
        }
        if name.len() > LONGEST_NAME {
            flaws.push(format!("exceeds the limit of {LONGEST_NAME} bytes"));
        }
        for folder in folders.iter().filter(|folder| folder.len() > LONGEST_FOLDER) {
            flaws.push(format!(
                "exceeds the limit of {LONGEST_FOLDER} bytes for directory name \"{folder}\""
            ));
        }
        if flaws.is_empty() && TreePath::new(format!("{}.md", self.slug())).is_err() {
            flaws.push("is invalid".to_owned());
        }
        flaws
    }
}

/// The words of a page's last part, as its file tells them.
pub fn title_of(slug: &str) -> String {
    slug.rsplit('/').next().unwrap_or_default().replace('-', " ")
}

/// The folder of a page; empty at the top.
pub fn folder_of(slug: &str) -> &str {
    slug.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Refuses a page that cannot be kept: what is wrong with its title and its content, all at once.
pub fn check(title: Option<&Title>, content: Option<&str>, most: usize) -> Result<()> {
    let mut flaws = Vec::new();
    let of_title = title.map(Title::flaws).unwrap_or_default();
    if !of_title.is_empty() {
        flaws.push(("title".to_owned(), of_title));
    }
    if let Some(long) = content.map(str::len).filter(|length| *length > most) {
        let text =
            format!("is too long ({}). The maximum size is {}.", in_words(long), in_words(most));
        flaws.push(("content".to_owned(), vec![text]));
    }
    if flaws.is_empty() { Ok(()) } else { Err(Error::bad_request().fields(flaws)) }
}

/// A size with three digits, as people read it.
fn in_words(bytes: usize) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    match bytes {
        1 => return "1 Byte".to_owned(),
        0..1024 => return format!("{bytes} Bytes"),
        _ => {}
    }
    let mut unit = 0;
    let mut divisor = 1024_usize;
    while bytes / divisor >= 1024 && unit + 1 < UNITS.len() {
        divisor *= 1024;
        unit += 1;
    }
    let places = match bytes / divisor {
        0..10 => 2,
        10..100 => 1,
        _ => 0,
    };
    let scale = 10_usize.pow(places);
    let scaled = (bytes.saturating_mul(scale) + divisor / 2) / divisor;
    let (whole, rest) = (scaled / scale, scaled % scale);
    let width = usize::try_from(places).unwrap_or_default();
    let digits = format!("{rest:0width$}");
    let fraction = if places == 0 { "" } else { digits.trim_end_matches('0') };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{whole}{point}{fraction} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::{Title, check, in_words, title_of};

    #[test]
    fn a_title_becomes_a_file() {
        for (title, slug) in [
            ("Home", "Home"),
            ("  Getting   started ", "Getting-started"),
            ("guide/First steps", "guide/First-steps"),
            ("/a/./b/../c", "a/c"),
            ("../../x", "x"),
        ] {
            assert_eq!(Title::parse(title).slug(), slug, "{title}");
        }
        assert_eq!(title_of("guide/First-steps"), "First steps");
        assert_eq!(Title::beside("New name", "guide").slug(), "guide/New-name");
        assert_eq!(Title::beside("/New name", "guide").slug(), "New-name");
        assert_eq!(Title::beside("other/x", "guide").slug(), "other/x");
    }

    #[test]
    fn a_title_that_cannot_be_is_told_so() {
        for (title, flaw) in [
            (" ".to_owned(), "can't be blank".to_owned()),
            ("..".to_owned(), "can't be blank".to_owned()),
            ("new".to_owned(), "'new' is a reserved name".to_owned()),
            ("x".repeat(246), "exceeds the limit of 245 bytes".to_owned()),
            (".git/x".to_owned(), "is invalid".to_owned()),
            ("a\u{1}b".to_owned(), "is invalid".to_owned()),
            (
                format!("{}/x", "d".repeat(256)),
                format!(
                    "exceeds the limit of 255 bytes for directory name \"{}\"",
                    "d".repeat(256)
                ),
            ),
        ] {
            assert_eq!(Title::parse(&title).flaws(), [flaw], "{title}");
        }
        assert!(Title::parse(&"x".repeat(245)).flaws().is_empty());
        assert!(Title::parse("docs/new").flaws().is_empty());
    }

    #[test]
    fn a_long_page_is_told_its_size() {
        let refused = check(None, Some("hello world"), 10).unwrap_err();
        let text = "is too long (11 Bytes). The maximum size is 10 Bytes.".to_owned();
        assert_eq!(refused.into_fields().unwrap(), [("content".to_owned(), vec![text])]);
        for (bytes, words) in
            [(1, "1 Byte"), (1023, "1023 Bytes"), (1536, "1.5 KiB"), (50 << 20, "50 MiB")]
        {
            assert_eq!(in_words(bytes), words);
        }
        assert_eq!(in_words(52_428_801), "50 MiB");
        assert_eq!(in_words(123_456_789), "118 MiB");
    }
}
