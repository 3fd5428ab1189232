//! The coverage that a log tells: the first number in what the pattern finds last.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    path::Path,
};

use regex::{Regex, RegexBuilder};

/// No line is looked at further than this.
const LONGEST_LINE: u64 = 64 << 10;
/// Bytes that a pattern may take.
const LARGEST_PATTERN: usize = 1 << 20;

/// Looks through a log; `None` where nothing fits, or the pattern cannot be used. May block.
pub fn coverage(log: &Path, pattern: &str) -> io::Result<Option<f64>> {
    let Ok(pattern) = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build() else {
        return Ok(None);
    };
    let mut lines = match File::open(log) {
        Err(failure) if failure.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => BufReader::new(file?),
    };
    let (mut line, mut found) = (Vec::new(), None);
    loop {
        line.clear();
        if lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        found = in_line(&pattern, &String::from_utf8_lossy(&line)).or(found);
    }
}

fn in_line(pattern: &Regex, line: &str) -> Option<f64> {
    let last = pattern.captures_iter(line).last()?;
    // A group says which part of the text counts.
    let text = last.iter().skip(1).flatten().next().or(last.get(0))?.as_str();
    let digit = |sign: char| sign.is_ascii_digit();
    let number = &text[text.find(digit)?..];
    let end = number.find(|sign: char| !digit(sign) && sign != '.').unwrap_or(number.len());
    number[..end].trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::coverage;

    #[test]
    fn the_last_number_that_fits_counts() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("1.log");
        std::fs::write(&log, "Lines: 12.5%\nLines: 98.76% of 100\nBranches: 50%\r\n").unwrap();
        let found = |pattern: &str| coverage(&log, pattern).unwrap();

        assert_eq!(found(r"Lines: \d+\.\d+%"), Some(98.76));
        assert_eq!(found(r"Lines: (\d+)"), Some(98.0));
        assert_eq!(found(r"Branches: \d+%"), Some(50.0));
        assert_eq!(found("Files"), None);
        assert_eq!(found("("), None);
        assert_eq!(coverage(&folder.path().join("no.log"), "x").unwrap(), None);
    }
}
