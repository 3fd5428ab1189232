//! Tags as they are listed and shown.

use kernel::{
    Error, Result,
    page::{Page, PageRequest},
};

use super::version;
use crate::{
    commit::Answers,
    git::{CommitInfo, GitError, Oid, Reader, RefName, Signature, SignedObject},
    name_filter::NameFilter,
};

/// A tag as it is shown.
#[derive(Clone, Debug)]
pub struct Tag {
    pub name: String,
    /// The tag object of an annotated tag, else what the tag names.
    pub target: Oid,
    /// `None` for a tag of a tree or a blob.
    pub commit: Option<CommitInfo>,
    /// `None` for a lightweight tag.
    pub message: Option<String>,
    pub tagger: Option<Signature>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagKey {
    #[default]
    Updated,
    Name,
    Version,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct TagOrder {
    pub key: TagKey,
    pub ascending: bool,
}

/// Which part of the list is wanted.
#[derive(Clone, Debug)]
pub enum TagPage {
    Numbered(PageRequest),
    /// So many after the tag of this name, or from the beginning.
    After {
        name: Option<String>,
        count: usize,
    },
}

/// A page of the tags whose names the filter lets through.
pub fn list(
    reader: &Reader,
    answers: &Answers,
    filter: &NameFilter,
    order: TagOrder,
    page: &TagPage,
) -> Result<Page<Tag>> {
    let mut refs = reader.tag_targets()?;
    refs.retain(|(name, _)| filter.matches(&name.short()));
    sort(reader, answers, &mut refs, order)?;
    let page = match page {
        TagPage::Numbered(page) => page.slice(refs),
        TagPage::After { name, count } => {
            let rest = match name {
                Some(name) => after(refs, name)?,
                None => refs,
            };
            let per_page = i64::try_from(*count).unwrap_or(i64::MAX);
            PageRequest { page: 1, per_page }.uncounted(rest)
        }
    };
    page.try_map_all(|refs| refs.iter().map(|(name, _)| shown(reader, name)).collect())
}

/// A tag's name and what it names: all that sorting needs.
type NamedTag = (RefName, Oid);

fn after(refs: Vec<NamedTag>, name: &str) -> Result<Vec<NamedTag>> {
    let place = refs.iter().position(|(tag, _)| tag.short() == name);
    let place = place.ok_or_else(|| Error::unprocessable().whole("Invalid page token"))?;
    Ok(refs.into_iter().skip(place + 1).collect())
}

fn sort(
    reader: &Reader,
    answers: &Answers,
    refs: &mut Vec<NamedTag>,
    order: TagOrder,
) -> Result<()> {
    match order.key {
        TagKey::Name => {}
        TagKey::Version => {
            refs.sort_by(|(one, _), (other, _)| {
                version::compare(one.short_bytes(), other.short_bytes())
            });
        }
        TagKey::Updated => {
            let mut dated = Vec::with_capacity(refs.len());
            for tag in refs.drain(..) {
                dated.push((answers.ref_time(reader, tag.1)?, tag));
            }
            dated.sort_by_key(|(at, _)| *at);
            refs.extend(dated.into_iter().map(|(_, tag)| tag));
        }
    }
    if !order.ascending {
        refs.reverse();
    }
    Ok(())
}

/// One tag.
pub fn show(reader: &Reader, name: &str) -> Result<Tag> {
    let name = RefName::tag(name).map_err(|_malformed| Error::not_found("Tag"))?;
    shown(reader, &name)
}

fn shown(reader: &Reader, name: &RefName) -> Result<Tag> {
    let tag = match reader.tag(name) {
        Err(GitError::NotFound) => return Err(Error::not_found("Tag")),
        tag => tag?,
    };
    Ok(Tag {
        name: name.short().into_owned(),
        target: tag.target,
        commit: tag.commit.map(|commit| reader.commit(commit)).transpose()?,
        message: tag.message,
        tagger: tag.tagger,
    })
}

/// The signature of an annotated tag.
pub fn signature(reader: &Reader, name: &str) -> Result<SignedObject> {
    let tag = show(reader, name)?;
    let is_annotated = tag.message.is_some();
    let signed = if is_annotated { reader.signature(tag.target)? } else { None };
    signed.ok_or_else(|| Error::not_found("Signature"))
}
