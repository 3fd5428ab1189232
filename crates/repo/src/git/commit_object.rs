//! Commit and tag objects from plain values.

use bstr::BString;
use gix::objs::{Commit, Kind, Tag};

use super::objects::NewObjects;
use super::{GitError, Oid, Signature};

/// Everything a commit says.
#[derive(Clone, Debug)]
pub struct CommitText {
    pub tree: Oid,
    pub parents: Vec<Oid>,
    pub author: Signature,
    pub committer: Signature,
    /// Stored as it is: no line end is added.
    pub message: String,
}

impl CommitText {
    pub fn write(&self, objects: &mut NewObjects) -> Result<Oid, GitError> {
        objects.add_encoded(&Commit {
            tree: self.tree.gix(),
            parents: self.parents.iter().map(|id| id.gix()).collect(),
            author: signature(&self.author),
            committer: signature(&self.committer),
            encoding: None,
            message: without_nul(&self.message),
            extra_headers: Vec::new(),
        })
    }
}

/// Everything an annotated tag says.
#[derive(Clone, Debug)]
pub struct TagText {
    /// Without `refs/tags/`.
    pub name: String,
    pub target: Oid,
    pub target_kind: Kind,
    pub tagger: Signature,
    pub message: String,
}

impl TagText {
    pub fn write(&self, objects: &mut NewObjects) -> Result<Oid, GitError> {
        objects.add_encoded(&Tag {
            target: self.target.gix(),
            target_kind: self.target_kind,
            name: self.name.as_str().into(),
            tagger: Some(signature(&self.tagger)),
            message: without_nul(&self.message),
            signature: None,
        })
    }
}

fn signature(who: &Signature) -> gix::actor::Signature {
    gix::actor::Signature {
        name: clean(&who.name),
        email: clean(&who.email),
        time: gix::date::Time { seconds: who.at, offset: who.offset },
    }
}

/// Leaves out what would end a name early, as git does.
fn clean(text: &str) -> BString {
    let kept: String =
        text.chars().filter(|c| !matches!(c, '<' | '>') && !c.is_control()).collect();
    kept.trim().into()
}

/// Readers end a message at its first NUL, and `git fsck` complains about it.
fn without_nul(message: &str) -> BString {
    message.replace('\0', "").into()
}
