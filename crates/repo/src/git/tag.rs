//! New tags: a name alone, or an object of its own with a message.

use super::blocking::blocking;
use super::cli::Git;
use super::commit_object::TagText;
use super::objects::NewObjects;
use super::open::open;
use super::refs::{ExpectedValue, RefMove};
use super::{GitError, Oid, RefName, RepoPath, Signature};

/// The message that makes a tag an annotated one.
#[derive(Clone, Debug)]
pub struct Annotation {
    pub tagger: Signature,
    pub message: String,
}

/// Prepares a tag; an annotation is durable afterwards. The caller makes the move.
pub async fn create(
    git: &Git,
    repo: &RepoPath,
    name: RefName,
    target: Oid,
    annotation: Option<Annotation>,
) -> Result<RefMove, GitError> {
    let Some(annotation) = annotation else {
        return Ok(RefMove { name, old: ExpectedValue::Absent, new: Some(target) });
    };
    let (place, short) = (repo.clone(), name.short().into_owned());
    let (id, objects) = blocking(move || {
        let target_kind =
            open(&place)?.find_header(target.gix()).or(Err(GitError::NotFound))?.kind();
        // Git ends every tag's message with a line end, and readers of tags expect one.
        let message = format!("{}\n", annotation.message.trim_end_matches('\n'));
        let text = TagText { name: short, target, target_kind, tagger: annotation.tagger, message };
        let mut objects = NewObjects::default();
        Ok((text.write(&mut objects)?, objects))
    })
    .await?;
    objects.persist(git, repo).await?;
    Ok(RefMove { name, old: ExpectedValue::Absent, new: Some(id) })
}
