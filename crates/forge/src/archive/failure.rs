//! Failures of exports and imports.

use std::{fmt, io};

use kernel::Error;
use repo::git::GitError;
use serde_json::error::Category;

use crate::import::{SourceError, refusal_text};

/// A failure of an archive itself, or of this server.
#[derive(Debug)]
pub(crate) enum ArchiveError {
    /// What is wrong with the archive, as a sentence for whoever imports it.
    Flawed(String),
    Own(Error),
    /// Somebody else works on it by now.
    Overtaken,
}

impl ArchiveError {
    pub(crate) fn flawed(text: impl Into<String>) -> Self {
        Self::Flawed(text.into())
    }

    /// Whether the same may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Own(cause) if cause.is_ours())
    }
}

/// A document of an archive that cannot be read, in words for whoever imports it.
pub(super) fn unreadable(what: &str, cause: &serde_json::Error) -> ArchiveError {
    let flaw = json_flaw(cause);
    ArchiveError::Flawed(format!(
        "{what} cannot be read: {flaw}. Export it again, and import the new archive."
    ))
}

/// What is wrong with a document, without the words and places of the parser.
fn json_flaw(cause: &serde_json::Error) -> String {
    let text = cause.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(before, _)| before);
    match cause.classify() {
        Category::Data => value_flaw(text),
        Category::Syntax if text.starts_with("recursion") => "it is nested too deeply".to_owned(),
        // Where one word of several belongs, the parser says this of any other value, too.
        Category::Syntax if text == "expected value" => {
            "it is not JSON, or has a value of the wrong type".to_owned()
        }
        Category::Syntax => "it is not JSON".to_owned(),
        Category::Eof => "it ends too early".to_owned(),
        Category::Io => "the file is damaged".to_owned(),
    }
}

fn value_flaw(text: &str) -> String {
    let name = |start: &str| text.strip_prefix(start)?.split('`').next();
    let value = |start: &str| {
        let (value, _) = text.strip_prefix(start)?.rsplit_once(", expected")?;
        Some(match value {
            "map" => "an object".to_owned(),
            "sequence" => "a list".to_owned(),
            "null" | "unit value" => "null".to_owned(),
            value => format!("the {value}"),
        })
    };
    if let Some(name) = name("missing field `") {
        format!("field `{name}` is missing")
    } else if let Some(name) = name("duplicate field `") {
        format!("field `{name}` comes twice")
    } else if let Some(name) = name("unknown variant `") {
        format!("value `{name}` is not known")
    } else if let Some(value) = value("invalid type: ") {
        format!("it has {value} where another type of value belongs")
    } else if let Some(value) = value("invalid value: ") {
        format!("it has {value}, which is out of range")
    } else if text.starts_with("invalid length ") {
        "it has a list of the wrong length where an object belongs".to_owned()
    } else {
        "it is not as this version writes it".to_owned()
    }
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flawed(text) => f.write_str(text),
            Self::Overtaken => f.write_str("another server works on the archive"),
            // What went wrong inside is for the log.
            Self::Own(cause) if cause.is_ours() => {
                f.write_str("this server failed: its log tells administrators why")
            }
            Self::Own(cause) => {
                write!(f, "the archive contradicts itself: {}", refusal_text(cause))
            }
        }
    }
}

impl From<Error> for ArchiveError {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

/// Of files of this server; reading an archive tells its own flaws.
impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        Self::Own(Error::internal(error))
    }
}

impl From<GitError> for ArchiveError {
    fn from(error: GitError) -> Self {
        Self::Own(error.into())
    }
}

impl From<SourceError> for ArchiveError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Own(cause) => Self::Own(cause),
            other => Self::Flawed(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::json_flaw;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Row {
        id: u32,
        title: String,
    }

    #[test]
    fn a_flaw_of_a_document_is_told_without_the_words_of_the_parser() {
        for (text, told) in [
            (r#"{"id": 1}"#, "field `title` is missing"),
            (r#"{"id": 1, "id": 1, "title": "x"}"#, "field `id` comes twice"),
            (
                r#"{"id": "x at line 3", "title": "x"}"#,
                "it has the string \"x at line 3\" where another type of value belongs",
            ),
            (r#"{"id": {}, "title": "x"}"#, "it has an object where another type of value belongs"),
            (r#"{"id": -1, "title": "x"}"#, "it has the integer `-1`, which is out of range"),
            ("[]", "it has a list of the wrong length where an object belongs"),
            (r#"{"id": 1"#, "it ends too early"),
            ("<html>", "it is not JSON, or has a value of the wrong type"),
            (r#"{"id" 1}"#, "it is not JSON"),
        ] {
            let flaw = serde_json::from_str::<Row>(text).map_err(|cause| json_flaw(&cause));
            assert_eq!(flaw.unwrap_err(), told, "{text}");
        }
        let other = <serde_json::Error as serde::de::Error>::custom("no words of the parser");
        assert_eq!(json_flaw(&other), "it is not as this version writes it");
    }
}
