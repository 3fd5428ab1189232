//! Releases, with the tags that they are of.

mod parts;

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result, Standing, Ts,
    access::FeatureAccess,
    ids::{ProjectId, ReleaseLinkId, UserId},
    page::PageRequest,
};
use org::project::settings::SettingsStore as _;
use repo::{
    git::{Oid, Reader, RefName, Signature},
    policy::PushCode,
    release::{
        NewRelease, Release, ReleaseChange, ReleaseContents, ReleaseOrder, ReleaseStore as _,
        actions,
        link::{self, LinkChange, NewLink, ReleaseLink},
    },
    tag::{self, NewTag},
};

pub use self::parts::{
    MilestoneNames, ReleaseParts, milestones_named, release_milestones, release_parts,
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
    pub links: Vec<NewLink>,
    pub milestones: MilestoneNames,
    pub author: UserId,
    pub tagger: Signature,
}

/// Refuses where a project has no releases, or keeps them to its members.
///
/// # Errors
/// 403
pub fn ensure_open(tx: &mut Tx<'_>, project: ProjectId, who: &Standing) -> Result<()> {
    match is_open(tx.project_settings(project)?.releases_access_level, who) {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

/// Whether somebody sees the releases of a project with this setting.
pub fn is_open(access: FeatureAccess, who: &Standing) -> bool {
    match access {
        FeatureAccess::Disabled => false,
        FeatureAccess::Private => who.is(AccessLevel::Guest),
        FeatureAccess::Enabled | FeatureAccess::Public => true,
    }
}

/// Makes the release of a tag, and the tag where it is not there.
///
/// # Errors
/// 409 where the tag has a release; 422 where the tag is not there and cannot be made; 400 for milestones that the project
/// does not have, and for links that it cannot have.
pub async fn create(forge: &Forge, grant: Grant<PushCode>, draft: ReleaseDraft) -> Result<Release> {
    // The tag is made before the release: what is wrong with the release has to be known by then.
    let contents = contents(forge, &grant, &draft).await?;
    let project = grant.project();
    let commit = match commit_of_tag(forge, project, &draft.tag).await? {
        Some(commit) => Some(commit),
        None => make_tag(forge, &grant, &draft).await?,
    };
    let commit = commit.ok_or_else(|| Error::unprocessable().whole("Tag name invalid"))?;
    let made = forge.db.write(move |tx| {
        let new = NewRelease {
            name: actions::name_or_tag(draft.name.as_deref(), &draft.tag),
            tag: draft.tag.clone(),
            description: draft.description.clone(),
            author_id: Some(draft.author),
            sha: commit.to_string(),
            released_at: draft.released_at.unwrap_or(tx.now),
            created_at: tx.now,
        };
        actions::create(tx, &grant, &new, &contents)
    });
    made.await
}

/// What a release is to begin with, where it can be made.
async fn contents(
    forge: &Forge,
    grant: &Grant<PushCode>,
    draft: &ReleaseDraft,
) -> Result<ReleaseContents> {
    let (project, who, name) = (grant.project(), *grant.who(), draft.tag.clone());
    let (links, named) = (draft.links.clone(), draft.milestones.clone());
    let (title, description) = (draft.name.clone(), draft.description.clone());
    let read = forge.db.read(move |tx| {
        ensure_open(tx, project, &who)?;
        actions::ensure_may_change(tx, project, &who, &name)?;
        actions::ensure_short(title.as_deref(), description.as_deref())?;
        if tx.find_release(project, &name)?.is_some() {
            return Err(Error::conflict().whole("Release already exists"));
        }
        link::actions::ensure_sound(&links)?;
        let milestones = milestones_named(tx, project, &who, &named)?;
        Ok(ReleaseContents { links, milestones })
    });
    read.await
}

/// Changes the release of a tag; with `milestones`, it completes these and no others.
///
/// # Errors
/// 404 where the tag has none; 400 for texts that are too long and for milestones that the project does not have.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    change: ReleaseChange,
    milestones: Option<&MilestoneNames>,
) -> Result<Release> {
    ensure_open(tx, grant.project(), grant.who())?;
    let named = milestones.map(|named| milestones_named(tx, grant.project(), grant.who(), named));
    let change = ReleaseChange { milestones: named.transpose()?, ..change };
    actions::update(tx, grant, tag, &change)
}

/// Removes the release of a tag, unless it changed after `unmodified_since`; answers with what it was.
///
/// # Errors
/// 404 where the tag has none.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    unmodified_since: Option<Ts>,
) -> Result<(Release, ReleaseParts)> {
    ensure_open(tx, grant.project(), grant.who())?;
    let found = actions::find(tx, grant.project(), tag)?;
    let parts = release_parts(tx, grant.who(), std::slice::from_ref(&found))?;
    Ok((actions::remove(tx, grant, tag, unmodified_since)?, parts))
}

/// The release of a project with the newest time.
///
/// # Errors
/// 404 where the project has none.
pub fn latest(tx: &mut Tx<'_>, project: ProjectId, who: &Standing) -> Result<Release> {
    ensure_open(tx, project, who)?;
    let page = PageRequest { page: 1, per_page: 1 };
    let newest = tx.releases(project, ReleaseOrder::default(), page)?.items.pop();
    newest.ok_or_else(Error::missing)
}

/// Adds a link to the release of a tag.
///
/// # Errors
/// As [`link::actions::create`]; 403 where the caller does not see the releases.
pub fn create_link(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    new: NewLink,
) -> Result<ReleaseLink> {
    ensure_open(tx, grant.project(), grant.who())?;
    link::actions::create(tx, grant, tag, new)
}

/// Changes a link of the release of a tag.
///
/// # Errors
/// As [`link::actions::update`]; 403 where the caller does not see the releases.
pub fn update_link(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    id: ReleaseLinkId,
    change: LinkChange,
) -> Result<ReleaseLink> {
    ensure_open(tx, grant.project(), grant.who())?;
    link::actions::update(tx, grant, tag, id, change)
}

/// Removes a link of the release of a tag.
///
/// # Errors
/// As [`link::actions::remove`]; 403 where the caller does not see the releases.
pub fn remove_link(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    id: ReleaseLinkId,
) -> Result<ReleaseLink> {
    ensure_open(tx, grant.project(), grant.who())?;
    link::actions::remove(tx, grant, tag, id)
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

/// Makes the tag of a release; answers with its commit. Where somebody else was faster, that is theirs, and who of both has
/// the release is decided when it is written.
async fn make_tag(
    forge: &Forge,
    grant: &Grant<PushCode>,
    draft: &ReleaseDraft,
) -> Result<Option<Oid>> {
    let pushed = push_tag(forge, grant, draft).await;
    match commit_of_tag(forge, grant.project(), &draft.tag).await? {
        Some(commit) => Ok(Some(commit)),
        None => pushed.map(|()| None),
    }
}

async fn push_tag(forge: &Forge, grant: &Grant<PushCode>, draft: &ReleaseDraft) -> Result<()> {
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
