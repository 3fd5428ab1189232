//! Places in the diffs of merge requests about which something is said.

use kernel::{Error, Result};
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

kernel::text_enum! {
    /// The kind of content that a position is in.
    pub enum PositionType { Text = "text", Image = "image" }
}

/// A place in a diff, in the order in which it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    pub base_sha: String,
    pub start_sha: String,
    pub head_sha: String,
    pub old_path: Option<String>,
    pub new_path: Option<String>,
    pub position_type: PositionType,
    /// Of lines that are removed, or stay.
    pub old_line: Option<i64>,
    /// Of lines that are added, or stay.
    pub new_line: Option<i64>,
    pub line_range: Option<LineRange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
}

/// Several lines, from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRange {
    pub start: LineEnd,
    pub end: LineEnd,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineEnd {
    pub line_code: Option<String>,
    /// `new`, `old`; nothing for a line that stays.
    #[serde(rename = "type")]
    pub side: Option<String>,
    pub old_line: Option<i64>,
    pub new_line: Option<i64>,
}

impl LineEnd {
    /// Fills in the lines that the code names.
    #[must_use]
    pub fn completed(mut self) -> Self {
        let code = self.line_code.clone().unwrap_or_default();
        let mut parts = code.rsplitn(3, '_');
        let (new, old) = (parts.next(), parts.next());
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok());
        if self.old_line.is_none() && self.new_line.is_none() {
            self.old_line = number(old).filter(|_| self.side.as_deref() != Some("new"));
            self.new_line = number(new).filter(|_| self.side.as_deref() != Some("old"));
        }
        self
    }
}

/// A file of a diff, as places in it need it.
#[derive(Clone, Copy, Debug)]
pub struct FileHunks<'d> {
    pub old_path: &'d str,
    pub new_path: &'d str,
    /// As git prints them, from the first `@@` on.
    pub hunks: &'d [u8],
}

const NO_LINE: &str = r#"Note {:line_code=>["can't be blank", "must be a valid line code"]}"#;
const INCOMPLETE: &str = r#"Note {:position=>["is incomplete"]}"#;

/// Bytes of the words that a range has: with two paths of files, whatever signs they have, a place stays within
/// [`LONGEST_POSITION`].
const LONGEST_WORD: usize = 255;
/// Bytes of a place as it is stored.
const LONGEST_POSITION: usize = 1 << 16;

/// Whether a text is a place as rows hold it.
pub fn is_stored_position(text: &str) -> bool {
    let is_storable = |place: Position| place.is_storable();
    text.len() <= LONGEST_POSITION && serde_json::from_str(text).is_ok_and(is_storable)
}

impl Position {
    /// Whether rows can hold it: it is between commits, and the words of its range have an end.
    pub fn is_storable(&self) -> bool {
        let is_hash =
            |text: &String| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let ends = self.line_range.iter().flat_map(|range| [&range.start, &range.end]);
        let mut words = ends.flat_map(|end| [&end.line_code, &end.side]).flatten();
        [&self.base_sha, &self.start_sha, &self.head_sha].into_iter().all(is_hash)
            && words.all(|word| word.len() <= LONGEST_WORD)
    }

    /// # Errors
    /// `BadRequest` where the place does not say enough of itself.
    pub fn ensure_complete(&self) -> Result<()> {
        let has_path = self.old_path.is_some() || self.new_path.is_some();
        let has_line = self.old_line.is_some() || self.new_line.is_some();
        match has_path && (has_line || self.position_type == PositionType::Image) {
            true => Ok(()),
            false => Err(Error::bad_request().because(INCOMPLETE)),
        }
    }

    /// The code of the line in a diff.
    ///
    /// # Errors
    /// `BadRequest` where the diff does not show it.
    pub fn line_code(&self, diff: &[FileHunks<'_>]) -> Result<Option<String>> {
        let is_named =
            |path: &Option<String>, is: &str| path.as_deref().is_none_or(|path| path == is);
        let file = diff.iter().find(|file| {
            is_named(&self.new_path, file.new_path) && is_named(&self.old_path, file.old_path)
        });
        let file = file.ok_or_else(no_line)?;
        if self.position_type == PositionType::Image {
            return Ok(None);
        }
        let (old, new) = find(file.hunks, self.old_line, self.new_line).ok_or_else(no_line)?;
        let digest = Sha1::digest(file.new_path.as_bytes());
        Ok(Some(format!("{}_{old}_{new}", hex::encode(digest))))
    }
}

/// The three commits of a version of a merge request.
#[derive(Clone, Debug)]
pub struct Refs {
    pub base: String,
    pub start: String,
    pub head: String,
}

impl Position {
    /// The same line in another version; `None` where it is not in its diff any more. `moved` is how its file differs
    /// between the heads of both, if it does; `diff` is the other version's own.
    pub fn traced(
        &self,
        refs: &Refs,
        moved: Option<FileHunks<'_>>,
        diff: &[FileHunks<'_>],
    ) -> Option<Self> {
        let (path, new_line) = match (self.new_line, moved) {
            (Some(line), Some(moved)) => {
                (Some(moved.new_path.to_owned()), Some(through(moved.hunks, line)?))
            }
            (line, _) => (self.new_path.clone(), line),
        };
        let file = diff.iter().find(|file| match (&path, self.new_line) {
            (Some(path), Some(_)) => file.new_path == path,
            _ => self.old_path.as_deref() == Some(file.old_path),
        })?;
        let (old_line, new_line) = match new_line {
            None => (self.old_line, find(file.hunks, self.old_line, None).map(|_| None)?),
            Some(new) => match find(file.hunks, None, Some(new)) {
                Some(_) => (None, Some(new)),
                None => (Some(kept(file.hunks, new)?), Some(new)),
            },
        };
        Some(Self {
            base_sha: refs.base.clone(),
            start_sha: refs.start.clone(),
            head_sha: refs.head.clone(),
            old_path: Some(file.old_path.to_owned()),
            new_path: Some(file.new_path.to_owned()),
            old_line,
            new_line,
            line_range: self.line_range.clone().filter(|_| new_line == self.new_line),
            ..self.clone()
        })
    }
}

/// Where a line of the old side is on the new one; nowhere once it was changed.
fn through(hunks: &[u8], line: i64) -> Option<i64> {
    let (mut old, mut new) = (1_i64, 1_i64);
    for text in hunks.split(|byte| *byte == b'\n') {
        match text.first() {
            Some(b'@') => {
                let next = start(text)?;
                if (old..next.0).contains(&line) {
                    break;
                }
                (old, new) = next;
            }
            Some(b'-') if old == line => return None,
            Some(b'-') => old += 1,
            Some(b'+') => new += 1,
            Some(b' ') if old == line => return Some(new),
            Some(b' ') => (old, new) = (old + 1, new + 1),
            _ => {}
        }
    }
    (line >= old).then(|| new + (line - old))
}

/// The old number of a line that stays, and that the hunks show.
fn kept(hunks: &[u8], line: i64) -> Option<i64> {
    let (mut old, mut new) = (1_i64, 1_i64);
    for text in hunks.split(|byte| *byte == b'\n') {
        match text.first() {
            Some(b'@') => (old, new) = start(text)?,
            Some(b'-') => old += 1,
            Some(b'+') => new += 1,
            Some(b' ') if new == line => return Some(old),
            Some(b' ') => (old, new) = (old + 1, new + 1),
            _ => {}
        }
    }
    None
}

/// What is told where a line is not in a diff.
pub fn no_line() -> Error {
    Error::bad_request().because(NO_LINE)
}

/// The numbers of a line on both sides: of an added line its new one is given, of a removed one its old one, of one
/// that stays both.
fn find(hunks: &[u8], old_line: Option<i64>, new_line: Option<i64>) -> Option<(i64, i64)> {
    let (mut old, mut new) = (1_i64, 1_i64);
    for line in hunks.split(|byte| *byte == b'\n') {
        match line.first() {
            Some(b'@') => {
                let (next_old, next_new) = start(line)?;
                if let (Some(at), Some(there)) = (old_line, new_line)
                    && (old..next_old).contains(&at)
                    && at - old == there - new
                {
                    return Some((at, there));
                }
                (old, new) = (next_old, next_new);
            }
            Some(b'-') => {
                if new_line.is_none() && old_line == Some(old) {
                    return Some((old, new));
                }
                old += 1;
            }
            Some(b'+') => {
                if old_line.is_none() && new_line == Some(new) {
                    return Some((old, new));
                }
                new += 1;
            }
            Some(b' ') => {
                if old_line == Some(old) && new_line == Some(new) {
                    return Some((old, new));
                }
                (old, new) = (old + 1, new + 1);
            }
            _ => {}
        }
    }
    None
}

/// Reads `@@ -3,7 +3,9 @@`. A side of no lines begins one line later than it says.
fn start(line: &[u8]) -> Option<(i64, i64)> {
    let line = std::str::from_utf8(line.get(..line.len().min(80))?).unwrap_or_default();
    let mut sides = line.split(' ').skip(1).map(|side| {
        let mut parts = side.trim_start_matches(['-', '+']).split(',');
        let first: i64 = parts.next()?.parse().ok()?;
        let is_empty = parts.next() == Some("0");
        Some(if is_empty { first + 1 } else { first })
    });
    Some((sides.next()??, sides.next()??))
}

#[cfg(test)]
mod tests {
    use super::{
        FileHunks, LineEnd, LineRange, Position, PositionType, Refs, find, is_stored_position,
        through,
    };

    const HUNKS: &[u8] =
        b"@@ -3,3 +3,4 @@\n one\n-two\n+2\n+two and a half\n three\n@@ -9 +10 @@ x\n-a\n+b\n";

    #[test]
    fn lines_are_found_on_their_side() {
        assert_eq!(find(HUNKS, None, Some(4)), Some((5, 4)));
        assert_eq!(find(HUNKS, Some(4), None), Some((4, 4)));
        assert_eq!(find(HUNKS, Some(3), Some(3)), Some((3, 3)));
        assert_eq!(find(HUNKS, Some(5), Some(6)), Some((5, 6)));
        assert_eq!(find(HUNKS, Some(1), Some(1)), Some((1, 1)), "unchanged, before the first hunk");
        assert_eq!(find(HUNKS, Some(7), Some(8)), Some((7, 8)), "unchanged, between hunks");
        assert_eq!(find(HUNKS, None, Some(10)), Some((10, 10)));
    }

    #[test]
    fn lines_that_are_not_shown_so_are_not_found() {
        for (old, new) in [
            (None, Some(3)),
            (Some(3), None),
            (Some(4), Some(4)),
            (Some(7), Some(7)),
            (Some(20), Some(21)),
            (None, None),
        ] {
            assert_eq!(find(HUNKS, old, new), None, "{old:?} {new:?}");
        }
    }

    fn at(old_line: Option<i64>, new_line: Option<i64>) -> Position {
        Position {
            base_sha: String::new(),
            start_sha: String::new(),
            head_sha: String::new(),
            old_path: Some("a.txt".to_owned()),
            new_path: Some("a.txt".to_owned()),
            position_type: PositionType::Text,
            old_line,
            new_line,
            line_range: None,
            width: None,
            height: None,
            x: None,
            y: None,
        }
    }

    #[test]
    fn a_place_is_between_commits_and_has_an_end() {
        let sha = "0123456789abcdef0123456789abcdef01234567";
        let whole = Position {
            base_sha: sha.to_owned(),
            start_sha: sha.to_owned(),
            head_sha: sha.to_owned(),
            ..at(None, Some(1))
        };
        let end = |code: &str| LineEnd {
            line_code: Some(code.to_owned()),
            side: None,
            old_line: None,
            new_line: None,
        };
        let range = |length| Some(LineRange { start: end("a"), end: end(&"a".repeat(length)) });
        let stored = |place: &Position| {
            is_stored_position(&serde_json::to_string(place).unwrap_or_default())
        };
        assert!(stored(&Position { line_range: range(255), ..whole.clone() }));
        for flawed in [
            Position { start_sha: "main".to_owned(), ..whole.clone() },
            Position { head_sha: String::new(), ..whole.clone() },
            Position { line_range: range(256), ..whole.clone() },
        ] {
            assert!(!stored(&flawed), "{flawed:?}");
        }
    }

    #[test]
    fn a_line_that_stays_is_found_again_and_a_changed_one_is_not() {
        let hunks = b"@@ -1,2 +1,3 @@\n+zero\n one\n-two\n+2\n";
        let all: Vec<_> = (1..5).map(|line| through(hunks, line)).collect();
        assert_eq!(all, [Some(2), None, Some(4), Some(5)]);
        assert_eq!(through(HUNKS, 7), Some(8), "between hunks");
    }

    #[test]
    fn a_place_follows_its_line_into_another_version() {
        let refs = Refs { base: "b".to_owned(), start: "s".to_owned(), head: "h".to_owned() };
        let file = |hunks| FileHunks { old_path: "a.txt", new_path: "a.txt", hunks };
        let whole = file(b"@@ -0,0 +1,3 @@\n+zero\n+one\n+2\n");
        let moved = file(b"@@ -1,2 +1,3 @@\n+zero\n one\n-two\n+2\n");

        let traced = at(None, Some(1)).traced(&refs, Some(moved), &[whole]).unwrap();
        assert_eq!(
            (traced.new_line, traced.old_line, traced.head_sha.as_str()),
            (Some(2), None, "h")
        );
        assert_eq!(at(None, Some(2)).traced(&refs, Some(moved), &[whole]), None, "it was changed");
        assert_eq!(at(None, Some(1)).traced(&refs, None, &[]), None, "the file is as it was");
        let removed = file(b"@@ -4 +3,0 @@\n-gone\n");
        assert!(at(Some(4), None).traced(&refs, None, &[removed]).is_some());
    }

    #[test]
    fn a_line_has_a_code_in_its_file_alone() {
        let position = at(None, Some(4));
        let file = FileHunks { old_path: "a.txt", new_path: "a.txt", hunks: HUNKS };
        let code = position.line_code(&[file]).unwrap().unwrap();
        assert!(code.ends_with("_5_4") && code.len() == 44, "{code}");
        let other = FileHunks { new_path: "b.txt", ..file };
        assert!(position.line_code(&[other]).is_err());
        let nowhere = Position { new_line: None, ..position };
        assert!(nowhere.ensure_complete().is_err());
    }

    #[test]
    fn the_end_of_a_range_is_read_from_its_code() {
        let end = |side: Option<&str>| {
            let end = LineEnd {
                line_code: Some("abc_5_7".to_owned()),
                side: side.map(str::to_owned),
                old_line: None,
                new_line: None,
            };
            let end = end.completed();
            (end.old_line, end.new_line)
        };
        assert_eq!(end(Some("new")), (None, Some(7)));
        assert_eq!(end(Some("old")), (Some(5), None));
        assert_eq!(end(None), (Some(5), Some(7)));
    }
}
