//! Prepares the pushes that create and delete tags.

use kernel::{Error, Grant, Result, Ts};

use crate::{
    branch::actions::{ensure_unmodified, push},
    git::{
        Git, GitError, Oid, Reader, RefName, RepoPath, Signature,
        tag::{self, Annotation},
    },
    policy::PushCode,
    push::{Push, RefChange},
};

/// A tag as it is asked for.
#[derive(Clone, Debug)]
pub struct NewTag {
    pub name: String,
    /// A branch, tag or commit.
    pub from: String,
    /// Makes the tag an annotated one, unless it is blank.
    pub message: Option<String>,
    pub tagger: Signature,
}

/// A tag that can be made.
#[derive(Clone, Debug)]
pub struct CheckedTag {
    name: RefName,
    target: Oid,
    annotation: Option<Annotation>,
}

/// Refuses what cannot be made.
pub fn check(reader: &Reader, new: NewTag) -> Result<CheckedTag> {
    let refuse = |text: String| Err(Error::bad_request().whole(text));
    if new.from.trim().is_empty() {
        return refuse("Target is empty".to_owned());
    }
    let Ok(name) = RefName::new_tag(&new.name) else {
        return refuse("Tag name invalid".to_owned());
    };
    if reader.find_reference(&name)?.is_some() {
        return refuse(format!("Tag {} already exists", new.name));
    }
    let target = match reader.resolve(&new.from) {
        Ok(target) => target,
        Err(GitError::NotFound | GitError::InvalidRef(_)) => {
            return refuse(format!("Target {} is invalid", new.from));
        }
        Err(failure) => return Err(failure.into()),
    };
    let message = new.message.map(|message| message.trim().to_owned());
    let annotation = message
        .filter(|message| !message.is_empty())
        .map(|message| Annotation { tagger: new.tagger, message });
    Ok(CheckedTag { name, target, annotation })
}

/// A new tag; its annotation is durable already.
pub async fn creation(
    git: &Git,
    repo: &RepoPath,
    grant: &Grant<PushCode>,
    new: CheckedTag,
) -> Result<Push> {
    let moved = tag::create(git, repo, new.name, new.target, new.annotation).await?;
    Ok(push(grant, vec![RefChange::plain(moved.name, None, moved.new)]))
}

/// Takes a tag away, unless its commit was written after `unmodified_since`.
pub fn deletion(
    reader: &Reader,
    grant: &Grant<PushCode>,
    name: &str,
    unmodified_since: Option<Ts>,
) -> Result<Push> {
    let name = RefName::tag(name).map_err(|_malformed| Error::not_found("Tag"))?;
    let found = reader.find_reference(&name)?.ok_or_else(|| Error::not_found("Tag"))?;
    ensure_unmodified(reader, found.commit, unmodified_since)?;
    Ok(push(grant, vec![RefChange::plain(name, Some(found.target), None)]))
}
