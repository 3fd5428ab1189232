//! Files of JSON, one document in each line.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _},
    path::Path,
};

use kernel::Error;
use serde::{Serialize, de::DeserializeOwned};

use super::failure::{ArchiveError, unreadable};

/// Bytes of one line: the longest text with room for what JSON makes of it.
const LONGEST: u64 = 16 << 20;

/// The documents of a file; of none where it is not there.
pub(super) struct Lines {
    name: String,
    file: Option<BufReader<File>>,
    number: usize,
}

impl Lines {
    pub(super) fn open(folder: &Path, name: &str) -> Result<Self, ArchiveError> {
        let file = match File::open(folder.join(name)) {
            Ok(file) => Some(BufReader::new(file)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
            Err(cause) => return Err(cause.into()),
        };
        Ok(Self { name: name.to_owned(), file, number: 0 })
    }

    /// The next document; nothing at the end.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ArchiveError> {
        let Some(text) = self.line()? else { return Ok(None) };
        // Nesting is bounded by the parser.
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|cause| unreadable(&format!("Line {} of {}", self.number, self.name), &cause))
    }

    /// The next documents, so many at most; none at the end.
    pub(super) fn page<T: DeserializeOwned>(
        &mut self,
        most: usize,
    ) -> Result<Vec<T>, ArchiveError> {
        let mut page = Vec::with_capacity(most);
        while page.len() < most
            && let Some(one) = self.next()?
        {
            page.push(one);
        }
        Ok(page)
    }

    /// Leaves so many documents out.
    pub(super) fn skip(&mut self, count: i64) -> Result<(), ArchiveError> {
        for _ in 0..count {
            if self.line()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn line(&mut self) -> Result<Option<Vec<u8>>, ArchiveError> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut text = Vec::new();
        file.by_ref().take(LONGEST).read_until(b'\n', &mut text)?;
        if u64::try_from(text.len()).is_ok_and(|length| length >= LONGEST) {
            let text = format!("A line of {} is too long.", self.name);
            return Err(ArchiveError::Flawed(text));
        }
        self.number += 1;
        Ok((!text.is_empty()).then_some(text))
    }
}

/// All documents of a file that has at most so many.
pub(super) fn read_all<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
    most: usize,
) -> Result<Vec<T>, ArchiveError> {
    let (mut lines, mut all) = (Lines::open(folder, name)?, Vec::new());
    while let Some(one) = lines.next()? {
        if all.len() >= most {
            return Err(ArchiveError::Flawed(format!("{name} has too many lines.")));
        }
        all.push(one);
    }
    Ok(all)
}

/// Adds a document as a line.
pub(super) fn write(into: &mut BufWriter<File>, one: &impl Serialize) -> kernel::Result<()> {
    serde_json::to_writer(&mut *into, one).map_err(Error::internal)?;
    into.write_all(b"\n").map_err(Error::internal)
}

/// The file with all lines that were added.
pub(super) fn finish(lines: BufWriter<File>) -> kernel::Result<File> {
    lines.into_inner().map_err(|cause| Error::internal(cause.into_error()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{LONGEST, Lines};

    fn told(text: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.ndjson"), text).unwrap();
        let mut lines = Lines::open(folder.path(), "x.ndjson").unwrap();
        loop {
            match lines.next::<Value>() {
                Ok(Some(_)) => {}
                Ok(None) => return String::new(),
                Err(flaw) => return flaw.to_string(),
            }
        }
    }

    #[test]
    fn lines_are_of_json_and_neither_too_long_nor_too_deep() {
        assert_eq!(told(b"{}\n[1]\n"), "");
        assert!(told(b"{}\n{\n").starts_with("Line 2 of x.ndjson cannot be read"));
        assert!(told("[".repeat(1000).as_bytes()).contains("nested too deeply"));
        let long = "1".repeat(usize::try_from(LONGEST).unwrap());
        assert_eq!(told(long.as_bytes()), "A line of x.ndjson is too long.");
    }
}
