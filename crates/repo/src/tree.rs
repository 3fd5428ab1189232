//! The entries of the folders of a commit.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use bstr::BString;
use kernel::{
    Error, Result,
    access::ProjectFacts,
    page::{Page, PageRequest, Total},
};

use crate::{
    commit::read::{default_head, find_commit},
    git::{EntryInfo, GitError, Oid, Reader, TreePage, TreePath},
};

/// Which folder is asked for.
#[derive(Clone, Debug, Default)]
pub struct TreeQuery {
    /// A branch, tag or commit; the default branch when left out.
    pub at: Option<String>,
    /// The root when empty.
    pub path: BString,
    /// Also what lies in the folders of the folder.
    pub deep: bool,
}

/// Which part of the folder is wanted.
#[derive(Clone, Debug)]
pub enum TreePart {
    Numbered(PageRequest),
    /// So many after the entry that this token names, or from the beginning.
    After {
        token: Option<String>,
        count: usize,
    },
    All,
}

/// The token by which the next page finds the end of this one.
pub fn token_of(path: &TreePath) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(path.as_bstr())
}

pub fn list(
    reader: &Reader,
    project: &ProjectFacts,
    query: &TreeQuery,
    part: &TreePart,
) -> Result<Page<EntryInfo>> {
    let commit = match &query.at {
        Some(name) => find_commit(reader, name)?,
        None => default_head(reader, project)?,
    };
    let commit = commit.ok_or_else(|| Error::not_found("Tree"))?;
    let entries = entries(reader, commit, query)?;
    Ok(match part {
        TreePart::Numbered(page) => page.slice(entries),
        TreePart::All => Page { items: entries, total: Total::Uncounted { more: false } },
        TreePart::After { token, count } => {
            let rest = match token {
                Some(token) => after(entries, token)?,
                None => entries,
            };
            let per_page = i64::try_from(*count).unwrap_or(i64::MAX);
            PageRequest { page: 1, per_page }.uncounted(rest)
        }
    })
}

fn entries(reader: &Reader, commit: Oid, query: &TreeQuery) -> Result<Vec<EntryInfo>> {
    let nothing = || Error::not_found("invalid revision or path");
    let path = TreePath::lookup(&query.path).map_err(|_impossible| nothing())?;
    match reader.list(commit, &path, query.deep, TreePage::default()) {
        Err(GitError::NotFound) => Err(nothing()),
        entries => Ok(entries?),
    }
}

fn after(entries: Vec<EntryInfo>, token: &str) -> Result<Vec<EntryInfo>> {
    let path = BASE64_URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
    let place = entries.iter().position(|entry| entry.path.as_bstr() == path.as_slice());
    let place = place.ok_or_else(|| Error::unprocessable().whole("Invalid page token"))?;
    Ok(entries.into_iter().skip(place + 1).collect())
}
