//! Releases, with the tags that they are of.

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result, Standing, Ts,
    access::FeatureAccess,
    ids::{ProjectId, UserId},
};
use org::project::settings::SettingsStore as _;
use repo::{
    git::{Oid, Reader, RefName, Signature},
    policy::PushCode,
    release::{NewRelease, Release, ReleaseStore as _, actions},
    tag::{self, NewTag},
};

use crate::Forge;

/// A release as somebody asks for it.
#[derive(Clone, Debug)]
pub struct ReleaseDraft {
    pub tag: String,
    /// The tag's message, where it is made with the release.
    pub tag_message: Option<String>,
    /// Where the tag is made that is not there.
    pub from: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub released_at: Option<Ts>,
    pub author: UserId,
    pub tagger: Signature,
}

/// Refuses where a project has no releases, or keeps them to its members.
///
/// # Errors
/// 403
pub fn ensure_open(tx: &mut Tx<'_>, project: ProjectId, who: &Standing) -> Result<()> {
    let is_open = match tx.project_settings(project)?.releases_access_level {
        FeatureAccess::Disabled => false,
        FeatureAccess::Private => who.is(AccessLevel::Guest),
        FeatureAccess::Enabled | FeatureAccess::Public => true,
    };
    if is_open { Ok(()) } else { Err(Error::forbidden()) }
}

/// Makes the release of a tag, and the tag where it is not there.
///
/// # Errors
/// 409 where the tag has a release; 422 where the tag is not there and cannot be made.
pub async fn create(forge: &Forge, grant: Grant<PushCode>, draft: ReleaseDraft) -> Result<Release> {
    let (project, who, name) = (grant.project(), *grant.who(), draft.tag.clone());
    let taken = forge.db.read(move |tx| {
        ensure_open(tx, project, &who)?;
        Ok(tx.find_release(project, &name)?.is_some())
    });
    if taken.await? {
        return Err(Error::conflict().whole("Release already exists"));
    }
    let commit = match commit_of_tag(forge, project, &draft.tag).await? {
        Some(commit) => Some(commit),
        None => {
            make_tag(forge, &grant, &draft).await?;
            commit_of_tag(forge, project, &draft.tag).await?
        }
    };
    let commit = commit.ok_or_else(|| Error::unprocessable().whole("Tag name invalid"))?;
    let made = forge.db.write(move |tx| {
        let new = NewRelease {
            name: draft.name.clone().unwrap_or_else(|| draft.tag.clone()),
            tag: draft.tag.clone(),
            description: draft.description.clone(),
            author_id: Some(draft.author),
            sha: commit.to_string(),
            released_at: draft.released_at.unwrap_or(tx.now),
            created_at: tx.now,
        };
        actions::create(tx, &grant, &new)
    });
    made.await
}

async fn commit_of_tag(forge: &Forge, project: ProjectId, tag: &str) -> Result<Option<Oid>> {
    let tag = tag.to_owned();
    forge.git_read(project, move |reader| tagged_commit(reader, &tag)).await
}

/// The commit of a tag; none where there is no such tag, or it is of something else.
fn tagged_commit(reader: &Reader, tag: &str) -> Result<Option<Oid>> {
    let Ok(name) = RefName::tag(tag) else { return Ok(None) };
    Ok(reader.find_reference(&name)?.and_then(|found| found.commit))
}

async fn make_tag(forge: &Forge, grant: &Grant<PushCode>, draft: &ReleaseDraft) -> Result<()> {
    let from = draft.from.clone().filter(|from| !from.trim().is_empty());
    let from = from.ok_or_else(|| Error::unprocessable().whole("Ref is not specified"))?;
    let new = NewTag {
        name: draft.tag.clone(),
        from,
        message: draft.tag_message.clone(),
        tagger: draft.tagger.clone(),
    };
    let check = forge.git_read(grant.project(), move |reader| tag::actions::check(reader, new));
    let checked = check.await?;
    let repository = forge.storage.repository(grant.project());
    forge.push(tag::actions::creation(&forge.git, &repository, grant, checked).await?).await
}

/// The commits of tags, each as text: empty for those that are not there.
///
/// # Errors
/// When git cannot be read.
pub(crate) async fn commits_of_tags(
    forge: &Forge,
    project: ProjectId,
    tags: Vec<String>,
) -> Result<Vec<String>> {
    let read = forge.git_read(project, move |reader| {
        let all = tags.iter().map(|tag| tagged_commit(reader, tag));
        all.map(|found| Ok(found?.map(|commit| commit.to_string()).unwrap_or_default())).collect()
    });
    read.await
}
