//! The coverage that a log tells: the first number in what the pattern finds last.
//!
//! The pattern comes from whoever may push, and the log may have a hundred megabytes. One search takes time in proportion to
//! the line; a line may be searched again behind each find, so all of it ends after some seconds.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
    time::{Duration, Instant},
};

use regex::bytes::{Regex, RegexBuilder};

use crate::coverage::is_coverage;

/// Bytes that are read at once. A longer line counts as several.
const BLOCK: usize = 16 << 10;
/// Bytes that a pattern may take.
const LARGEST_PATTERN: usize = 256 << 10;
/// Looking ends after this, without an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks through a log from its end; `None` where nothing fits, the pattern cannot be used, or it takes too long. May block.
pub fn coverage(log: &Path, pattern: &str) -> io::Result<Option<f64>> {
    within(log, pattern, PATIENCE)
}

fn within(log: &Path, pattern: &str, patience: Duration) -> io::Result<Option<f64>> {
    let Some(pattern) = compiled(pattern) else { return Ok(None) };
    let mut file = match File::open(log) {
        Err(failure) if failure.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let search = Search { pattern, until: Instant::now() + patience };
    let mut left = file.seek(SeekFrom::End(0))?;
    // The beginning of a line whose end was in the block behind.
    let mut rest: Vec<u8> = Vec::new();
    while left > 0 {
        let size = left.min(u64::try_from(BLOCK).unwrap_or(u64::MAX));
        left -= size;
        let mut block = vec![0; usize::try_from(size).unwrap_or(BLOCK)];
        file.seek(SeekFrom::Start(left))?;
        file.read_exact(&mut block)?;
        let is_long = rest.len() >= BLOCK;
        if !is_long {
            block.append(&mut rest);
        }
        let mut lines = block.split(|sign| *sign == b'\n');
        let first = lines.next().unwrap_or_default();
        let long = is_long.then_some(rest.as_slice());
        for line in long.into_iter().chain(lines.rev()) {
            match search.in_line(line) {
                CoverageMatch::Nothing => {}
                CoverageMatch::Number(number) => return Ok(Some(number)),
                CoverageMatch::Late => return Ok(None),
            }
        }
        rest = first.to_vec();
    }
    Ok(match search.in_line(&rest) {
        CoverageMatch::Number(number) => Some(number),
        CoverageMatch::Nothing | CoverageMatch::Late => None,
    })
}

/// As the product reads it: `\d`, `\w` and the like are signs of ASCII, unless the pattern cannot be read so.
fn compiled(pattern: &str) -> Option<Regex> {
    let with = |unicode: bool| {
        RegexBuilder::new(pattern).unicode(unicode).size_limit(LARGEST_PATTERN).build().ok()
    };
    with(false).or_else(|| with(true))
}

enum CoverageMatch {
    Nothing,
    Number(f64),
    Late,
}

struct Search {
    pattern: Regex,
    until: Instant,
}

impl Search {
    /// The number in the last find of a line.
    fn in_line(&self, line: &[u8]) -> CoverageMatch {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut last = None;
        for found in self.pattern.find_iter(line) {
            last = Some(found.start());
            if Instant::now() > self.until {
                return CoverageMatch::Late;
            }
        }
        let number = last.and_then(|start| self.number(line, start));
        match number {
            Some(number) => CoverageMatch::Number(number),
            None if Instant::now() > self.until => CoverageMatch::Late,
            None => CoverageMatch::Nothing,
        }
    }

    fn number(&self, line: &[u8], start: usize) -> Option<f64> {
        let captures = self.pattern.captures_at(line, start)?;
        // A group says which part of the text counts.
        let group = captures.iter().skip(1).flatten().last();
        let text = group.or(captures.get(0))?.as_bytes();
        let digits = text.iter().position(u8::is_ascii_digit)?;
        let number = &text[digits..];
        let is_part = |sign: &u8| sign.is_ascii_digit() || *sign == b'.';
        let end = number.iter().position(|sign| !is_part(sign)).unwrap_or(number.len());
        let number = std::str::from_utf8(&number[..end]).ok()?.trim_end_matches('.').parse();
        // Of more digits than such numbers have.
        number.ok().filter(|number: &f64| is_coverage(*number))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        path::PathBuf,
        time::{Duration, Instant},
    };

    use super::{BLOCK, coverage, within};

    fn log(text: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("1.log");
        std::fs::write(&log, text).unwrap();
        (folder, log)
    }

    #[test]
    fn the_last_number_that_fits_counts() {
        let (folder, log) = log("Lines: 12.5%\nLines: 98.76% of 100\nBranches: 50%\r\nLines: no\n");
        let found = |pattern: &str| coverage(&log, pattern).unwrap();

        assert_eq!(found(r"Lines: \d+\.\d+%"), Some(98.76));
        assert_eq!(found(r"Lines: (\d+)"), Some(98.0));
        assert_eq!(found(r"Lines: (\d+)\.(\d+)"), Some(76.0));
        assert_eq!(found(r"Branches: \d+%$"), Some(50.0));
        assert_eq!(found(r"\d+"), Some(50.0));
        assert_eq!(found(r"Lines: .*"), Some(98.76));
        assert_eq!(found("Files"), None);
        for digits in [11, 305, 400] {
            std::fs::write(folder.path().join("2.log"), "9".repeat(digits)).unwrap();
            assert_eq!(coverage(&folder.path().join("2.log"), r"\d+").unwrap(), None);
        }
        assert_eq!(found("("), None);
        assert_eq!(coverage(&folder.path().join("no.log"), "x").unwrap(), None);
    }

    #[test]
    fn a_line_may_lie_across_blocks_and_hold_other_letters() {
        let filler = "x".repeat(BLOCK - 10);
        let (_folder, log) = log(format!("ä 5%\nTotal é 42.5%\n{filler}\nend"));

        assert_eq!(coverage(&log, r"Total é (\d+\.\d+)").unwrap(), Some(42.5));
        assert_eq!(coverage(&log, r"[ä] (\d+)").unwrap(), Some(5.0));
    }

    #[test]
    fn a_pattern_that_takes_too_long_is_given_up() {
        let (_folder, log) = log("a".repeat(8 << 20));
        let begun = Instant::now();

        // Behind each letter the whole line is looked through once more.
        assert_eq!(within(&log, "a(.*b)?", Duration::from_millis(50)).unwrap(), None);

        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}
