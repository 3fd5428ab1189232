//! Branches, tags and HEAD.

use bstr::ByteSlice as _;
use gix::{
    objs::Kind,
    refs::{PartialNameRef, TargetRef},
};

use super::{Reader, commits};
use crate::git::{GitError, Oid, RefName, Result, Signature};

/// One ref and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefInfo {
    pub name: RefName,
    /// What the ref itself names; a tag object for an annotated tag.
    pub target: Oid,
    /// The commit at the end; `None` for a tag of a tree or a blob.
    pub commit: Option<Oid>,
}

/// One tag, with its annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagInfo {
    pub name: RefName,
    pub target: Oid,
    pub commit: Option<Oid>,
    /// The annotation as it was written, a signature at its end included; `None` for a lightweight tag.
    pub message: Option<String>,
    pub tagger: Option<Signature>,
    pub signed: bool,
}

const REMOTES: &str = "refs/remotes/";

/// The ref of exactly this name: gix also looks below `refs/heads/` and the like for one.
pub(in crate::git) fn exactly<'r>(
    repo: &'r gix::Repository,
    name: &RefName,
) -> Result<Option<gix::Reference<'r>>> {
    if !name.is_storable() {
        return Ok(None);
    }
    let found = repo.try_find_reference(name.as_bstr())?;
    Ok(found.filter(|found| found.name().as_bstr() == name.as_bstr()))
}

impl Reader {
    /// The branch that HEAD names, whether or not it exists yet.
    pub fn head_branch(&self) -> Result<Option<RefName>> {
        Ok(self.repo.head_name()?.map(|name| RefName::stored(name.as_bstr())))
    }

    /// Whether there is no branch at all.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.repo.references()?.local_branches()?.next().is_none())
    }

    /// All branches by name.
    pub fn branches(&self) -> Result<Vec<RefInfo>> {
        self.refs_below("refs/heads/")
    }

    /// All tags by name, without their annotations.
    pub fn tag_refs(&self) -> Result<Vec<RefInfo>> {
        self.refs_below("refs/tags/")
    }

    /// All refs by name, hidden ones included.
    pub fn all_refs(&self) -> Result<Vec<RefInfo>> {
        self.refs_below("refs/")
    }

    /// All tags by name.
    pub fn tags(&self) -> Result<Vec<TagInfo>> {
        self.tag_refs()?.into_iter().map(|tag| self.annotation(tag)).collect()
    }

    pub fn tag(&self, name: &RefName) -> Result<TagInfo> {
        self.annotation(self.reference(name)?)
    }

    pub fn reference(&self, name: &RefName) -> Result<RefInfo> {
        self.find_reference(name)?.ok_or(GitError::NotFound)
    }

    pub fn find_reference(&self, name: &RefName) -> Result<Option<RefInfo>> {
        match exactly(&self.repo, name)? {
            Some(found) => self.follow(found),
            None => Ok(None),
        }
    }

    /// The ref that git understands by a name: a full one, else what lies below `refs/`, `refs/tags/`, `refs/heads/` and
    /// `refs/remotes/`, in this order.
    pub(super) fn find_named(&self, text: &str) -> Result<Option<RefInfo>> {
        let longest = [REMOTES, text, "/HEAD"].concat();
        if !RefName::stored(longest.as_bytes().as_bstr()).is_storable() {
            return Ok(None);
        }
        let Ok(name) = <&PartialNameRef>::try_from(text.as_bytes().as_bstr()) else {
            return Ok(None);
        };
        match self.repo.try_find_reference(name)? {
            Some(found) => self.follow(found),
            None => Ok(None),
        }
    }

    /// `None` when the ref is symbolic and leads nowhere.
    fn follow(&self, mut found: gix::Reference<'_>) -> Result<Option<RefInfo>> {
        let name = RefName::stored(found.name().as_bstr());
        let target = match found.target() {
            TargetRef::Object(id) => id.to_owned(),
            TargetRef::Symbolic(_) => match found.follow_to_object() {
                Ok(id) => id.detach(),
                Err(_) => return Ok(None),
            },
        };
        let commit = match self.peel_to_commit(target) {
            Ok(id) => Some(Oid::of(&id)),
            Err(GitError::NotFound) => None,
            Err(error) => return Err(error),
        };
        Ok(Some(RefInfo { name, target: Oid::of(&target), commit }))
    }

    /// All refs with what each names itself, hidden ones included; refs that name refs are left out. No object is
    /// opened.
    pub fn all_targets(&self) -> Result<Vec<(RefName, Oid)>> {
        let mut refs = Vec::new();
        let platform = self.repo.references()?;
        for found in platform.prefixed("refs/".as_bytes())? {
            let found = found?;
            if let TargetRef::Object(id) = found.target() {
                refs.push((RefName::stored(found.name().as_bstr()), Oid::of(id)));
            }
        }
        Ok(refs)
    }

    /// All tags by name with what each names itself: no object is opened.
    pub fn tag_targets(&self) -> Result<Vec<(RefName, Oid)>> {
        let mut tags = Vec::new();
        let platform = self.repo.references()?;
        for found in platform.prefixed("refs/tags/".as_bytes())? {
            let found = found?;
            let name = RefName::stored(found.name().as_bstr());
            match found.target() {
                TargetRef::Object(id) => tags.push((name, Oid::of(id))),
                TargetRef::Symbolic(_) => {
                    tags.extend(self.follow(found)?.map(|tag| (tag.name, tag.target)));
                }
            }
        }
        tags.sort();
        Ok(tags)
    }

    fn refs_below(&self, folder: &str) -> Result<Vec<RefInfo>> {
        let mut refs = Vec::new();
        let platform = self.repo.references()?;
        for found in platform.prefixed(folder.as_bytes())? {
            refs.extend(self.follow(found?)?);
        }
        refs.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(refs)
    }

    /// When what a ref names was made: the date of an annotated tag, else the committer date of the commit. What has no
    /// date is older than everything.
    pub fn ref_time(&self, target: Oid) -> Result<i64> {
        let object = self.object(target.gix())?;
        Ok(match object.kind {
            Kind::Commit => object.try_to_commit_ref()?.time()?.seconds,
            Kind::Tag => match object.try_to_tag_ref()?.tagger()? {
                Some(tagger) => tagger.time()?.seconds,
                None => i64::MIN,
            },
            Kind::Tree | Kind::Blob => i64::MIN,
        })
    }

    fn annotation(&self, tag: RefInfo) -> Result<TagInfo> {
        let RefInfo { name, target, commit } = tag;
        let plain = TagInfo { name, target, commit, message: None, tagger: None, signed: false };
        if self.header(target.gix())?.0 != Kind::Tag {
            return Ok(plain);
        }
        let object = self.object(target.gix())?;
        let annotated = object.try_to_tag_ref()?;
        let message = object.data.split_once_str("\n\n").map(|(_, message)| message);
        Ok(TagInfo {
            message: Some(
                message.unwrap_or_default().to_str_lossy().trim_end_matches('\n').to_owned(),
            ),
            tagger: annotated.tagger.map(|tagger| commits::signature(tagger, None)),
            signed: annotated.signature.is_some(),
            ..plain
        })
    }
}
