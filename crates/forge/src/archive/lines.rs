//! Files of JSON, one document in each line.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _},
    path::Path,
};

use kernel::{Error, task::spawn_blocking};
use serde::{Serialize, de::DeserializeOwned};

use super::failure::{ArchiveError, unreadable};

/// Bytes of one line: the longest text with room for what JSON makes of it.
const LONGEST: u64 = 16 << 20;
/// Bytes of the lines of one page, but for its last one: what is made of a page takes several times as much.
const LONGEST_PAGE: usize = 8 << 20;
/// Bytes of a list that is read as a whole: two hundred thousand people have forty megabytes.
pub(super) const LONGEST_LIST: usize = 128 << 20;

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

    /// As [`open`](Self::open), without so many documents at the beginning.
    pub(super) async fn open_behind(
        folder: &Path,
        name: &str,
        count: i64,
    ) -> Result<Self, ArchiveError> {
        let (folder, name) = (folder.to_owned(), name.to_owned());
        let opened = spawn_blocking(move || {
            let mut lines = Self::open(&folder, &name)?;
            lines.skip(count)?;
            Ok(lines)
        });
        opened.await.map_err(Error::internal)?
    }

    /// The next document; nothing at the end. Blocks.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ArchiveError> {
        let Some(text) = self.line()? else { return Ok(None) };
        self.document(&text).map(Some)
    }

    fn document<T: DeserializeOwned>(&self, text: &[u8]) -> Result<T, ArchiveError> {
        // Nesting is bounded by the parser.
        serde_json::from_slice(text)
            .map_err(|cause| unreadable(&format!("Line {} of {}", self.number, self.name), &cause))
    }

    /// The next documents, so many at most and fewer where they are long; none at the end.
    pub(super) async fn next_page<T: DeserializeOwned + Send + 'static>(
        mut self,
        most: usize,
    ) -> Result<(Self, Vec<T>), ArchiveError> {
        let read = spawn_blocking(move || {
            let page = self.page(most, LONGEST_PAGE)?;
            Ok((self, page))
        });
        read.await.map_err(Error::internal)?
    }

    fn page<T: DeserializeOwned>(
        &mut self,
        most: usize,
        longest: usize,
    ) -> Result<Vec<T>, ArchiveError> {
        let (mut page, mut length) = (Vec::new(), 0);
        while page.len() < most
            && length < longest
            && let Some(text) = self.line()?
        {
            length += text.len();
            page.push(self.document(&text)?);
        }
        Ok(page)
    }

    fn skip(&mut self, count: i64) -> Result<(), ArchiveError> {
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

/// All documents of a file that has at most so many. Blocks.
pub(super) fn read_all<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
    most: usize,
) -> Result<Vec<T>, ArchiveError> {
    read_within(folder, name, most, LONGEST_LIST)
}

fn read_within<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
    most: usize,
    longest: usize,
) -> Result<Vec<T>, ArchiveError> {
    let (mut lines, mut all, mut length) = (Lines::open(folder, name)?, Vec::new(), 0);
    while let Some(text) = lines.line()? {
        length += text.len();
        if all.len() >= most || length > longest {
            return Err(ArchiveError::Flawed(format!("{name} has too many lines.")));
        }
        all.push(lines.document(&text)?);
    }
    Ok(all)
}

/// Adds a document as a line; false for one that is too long, which is left out.
pub(super) fn write(into: &mut BufWriter<File>, one: &impl Serialize) -> kernel::Result<bool> {
    let mut text = serde_json::to_vec(one).map_err(Error::internal)?;
    text.push(b'\n');
    if u64::try_from(text.len()).is_ok_and(|length| length < LONGEST) {
        return into.write_all(&text).map(|()| true).map_err(Error::internal);
    }
    tracing::warn!(bytes = text.len(), "a row that is too long is left out of an archive");
    Ok(false)
}

/// The file with all lines that were added.
pub(super) fn finish(lines: BufWriter<File>) -> kernel::Result<File> {
    lines.into_inner().map_err(|cause| Error::internal(cause.into_error()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{LONGEST, Lines, read_within};

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
    #[test]
    fn a_page_of_long_lines_has_fewer_of_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.ndjson"), "[10]\n[11]\n[12]\n[13]\n").unwrap();
        for (most, longest, told) in [(9, 1, 1), (9, 6, 2), (9, 99, 4), (3, 99, 3)] {
            let mut lines = Lines::open(folder.path(), "x.ndjson").unwrap();
            let (mut all, mut first) = (Vec::new(), None);
            loop {
                let page: Vec<Value> = lines.page(most, longest).unwrap();
                first.get_or_insert(page.len());
                match page.is_empty() {
                    true => break,
                    false => all.extend(page),
                }
            }
            assert_eq!((first, all.len()), (Some(told), 4), "{longest}");
        }
    }

    #[test]
    fn a_list_has_neither_too_many_lines_nor_too_long_ones() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.ndjson"), "[10]\n[11]\n").unwrap();
        for (most, longest, fits) in [(2, 10, true), (1, 10, false), (2, 9, false)] {
            let read = read_within::<Value>(folder.path(), "x.ndjson", most, longest);
            assert_eq!(read.is_ok(), fits, "{most} {longest}");
        }
    }
}
