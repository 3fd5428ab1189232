//! Finding pages in the repository of a wiki.

use bstr::ByteSlice as _;
use kernel::{Error, Result};

use super::{format::Markup, name};
use crate::commit::read::find_commit;
use crate::git::{EntryInfo, EntryKind, GitError, Oid, Reader, TreePage, TreePath};

/// No blob beyond this is taken into memory; what is written through the API is far smaller.
const MOST_BYTES: u64 = 256 << 20;

/// What anybody is told about a page that is not there.
pub fn no_page() -> Error {
    Error::not_found("Wiki Page")
}

/// A page, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFile {
    /// The path without its ending.
    pub slug: String,
    pub path: String,
    pub markup: Markup,
    pub blob: Oid,
}

/// A page with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub file: PageFile,
    pub content: String,
}

/// The slug and format of a wiki page, from its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageName {
    pub slug: String,
    pub markup: Markup,
}

impl PageName {
    /// `None` for the paths of other files.
    pub fn of(path: &str) -> Option<Self> {
        let (slug, ending) = path.rsplit_once('.')?;
        if slug.is_empty() || slug.ends_with('/') || ending.contains('/') {
            return None;
        }
        let markup = Markup::of_ending(ending)?;
        Some(Self { slug: slug.to_owned(), markup })
    }

    pub fn title(&self) -> String {
        name::title_of(&self.slug)
    }
}

impl PageFile {
    /// `None` for what is no page: other files, and names that are no text.
    fn of(entry: &EntryInfo) -> Option<Self> {
        if entry.kind() != EntryKind::Blob {
            return None;
        }
        let path = entry.path.as_bstr().to_str().ok()?;
        let PageName { slug, markup } = PageName::of(path)?;
        Some(Self { slug, path: path.to_owned(), markup, blob: entry.id })
    }

    pub fn title(&self) -> String {
        name::title_of(&self.slug)
    }

    /// The ending of the file, without its dot.
    pub fn ending(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, ending)| ending)
    }

    /// The text. Bytes that are no UTF-8 are replaced.
    pub fn read(self, reader: &Reader) -> Result<Page> {
        let content = reader.blob(self.blob, MOST_BYTES)?.to_str_lossy().into_owned();
        Ok(Page { file: self, content })
    }
}

/// The newest version of the wiki; `None` while nothing was written.
pub fn tip(reader: &Reader) -> Result<Option<Oid>> {
    match reader.resolve("HEAD") {
        Err(GitError::NotFound) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// The page that is kept in exactly this file.
pub fn at_path(reader: &Reader, at: Oid, path: &str) -> Result<PageFile> {
    let entry = reader.find_entry(at, &TreePath::lookup(path)?)?;
    entry.as_ref().and_then(PageFile::of).ok_or_else(no_page)
}

/// Every page, in the byte order of the files.
pub fn all(reader: &Reader, at: Oid) -> Result<Vec<PageFile>> {
    below(reader, at, &TreePath::ROOT)
}

/// The pages in one folder and deeper, in the byte order of the files; none where there is no such folder.
pub fn below(reader: &Reader, at: Oid, folder: &TreePath) -> Result<Vec<PageFile>> {
    let entries = match reader.list(at, folder, true, TreePage::default()) {
        Err(GitError::NotFound) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut pages: Vec<PageFile> = entries.iter().filter_map(PageFile::of).collect();
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(pages)
}

/// The page that a caller means: by the text as sent, else with its blanks as `-`.
pub fn page(reader: &Reader, at: Oid, slug: &str) -> Result<PageFile> {
    let found = match with_slug(reader, at, slug)?.into_iter().next() {
        None if slug.contains(' ') => {
            with_slug(reader, at, &slug.replace(' ', "-"))?.into_iter().next()
        }
        found => found,
    };
    found.ok_or_else(no_page)
}

/// The pages that have the slug, whatever their ending; letter case does not matter, but the same case goes first. Only
/// the folders on the way are read.
pub fn with_slug(reader: &Reader, at: Oid, slug: &str) -> Result<Vec<PageFile>> {
    let wanted = slug.trim_matches('/').to_lowercase();
    let mut folders = vec![TreePath::ROOT];
    let mut parts = wanted.split('/').peekable();
    let mut found = Vec::new();
    while let Some(part) = parts.next() {
        let mut next = Vec::new();
        for folder in &folders {
            for entry in reader.list(at, folder, false, TreePage::default())? {
                if parts.peek().is_none() {
                    found.extend(PageFile::of(&entry));
                } else if entry.kind() == EntryKind::Tree && is_called(&entry, part) {
                    next.push(entry.path);
                }
            }
        }
        folders = next;
    }
    found.retain(|page| page.slug.to_lowercase() == wanted);
    found.sort_by(|one, other| {
        (one.slug != slug, &one.path).cmp(&(other.slug != slug, &other.path))
    });
    Ok(found)
}

fn is_called(entry: &EntryInfo, name: &str) -> bool {
    entry.path.name().to_str().is_ok_and(|own| own.to_lowercase() == name)
}

/// A version of the wiki, by the id of its commit.
pub fn version(reader: &Reader, text: &str) -> Result<Oid> {
    let is_id = (4..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id {
        return Err(no_page());
    }
    find_commit(reader, text)?.ok_or_else(no_page)
}
