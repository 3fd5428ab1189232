//! Making, changing and removing releases. The tag is made before, by whoever asked.

use db::Tx;
use kernel::{
    Error, Grant, Result, Standing, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::ProjectId,
};

use super::{
    Event, NewRelease, Release, ReleaseAction, ReleaseChange, ReleaseContents,
    ReleaseMilestoneStore as _, ReleaseStore as _,
    link::{self, ReleaseLinkStore as _},
};
use crate::{event::MovedRef, policy::PushCode, protection::Protection, push::journal::PushAction};

const LONGEST_NAME: usize = 255;
const LONGEST_DESCRIPTION: usize = 1_000_000;

/// The release of a tag.
///
/// # Errors
/// 404 where it has none.
pub fn find(tx: &mut Tx<'_>, project: ProjectId, tag: &str) -> Result<Release> {
    tx.find_release(project, tag)?.ok_or_else(Error::missing)
}

/// Makes the release of a tag.
///
/// # Errors
/// 409 where the tag has one; 400 for texts that are too long, and for links that it cannot have.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    new: &NewRelease,
    contents: &ReleaseContents,
) -> Result<Release> {
    ensure_may_change(tx, grant.project(), grant.who(), &new.tag)?;
    ensure_short(Some(&new.name), new.description.as_deref())?;
    link::actions::ensure_sound(&contents.links)?;
    let project = grant.project();
    if tx.insert_releases(project, std::slice::from_ref(new))? == 0 {
        return Err(Error::conflict().whole("Release already exists"));
    }
    let made = find(tx, project, &new.tag)?;
    // The newest link is the first of a list.
    let links: Vec<_> = contents.links.iter().rev().map(|link| (made.id, link.clone())).collect();
    tx.insert_release_links(&links)?;
    tx.set_release_milestones(made.id, &contents.milestones)?;
    let place = AuditPlace::Project(project);
    record(tx, &made, AuditRecord::addition("release_created", place, "release"));
    tx.mention(event(grant, &made, ReleaseAction::Create));
    Ok(made)
}

/// Changes a release.
///
/// # Errors
/// As [`create`]; 404 where the tag has none.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    change: &ReleaseChange,
) -> Result<Release> {
    let text = change.description.as_ref().and_then(Option::as_deref);
    let name = change.name.as_deref().map(|name| name_or_tag(Some(name), tag));
    ensure_short(name.as_deref(), text)?;
    let found = find(tx, grant.project(), tag)?;
    ensure_may_change(tx, grant.project(), grant.who(), tag)?;
    let changed = Release {
        name: name.unwrap_or_else(|| found.name.clone()),
        description: change.description.clone().unwrap_or_else(|| found.description.clone()),
        released_at: change.released_at.unwrap_or(found.released_at),
        updated_at: tx.now,
        ..found
    };
    tx.save_release(&changed)?;
    if let Some(milestones) = &change.milestones {
        tx.set_release_milestones(changed.id, milestones)?;
    }
    let place = AuditPlace::Project(grant.project());
    record(tx, &changed, AuditRecord::change("release_updated", place, "release"));
    tx.mention(event(grant, &changed, ReleaseAction::Update));
    Ok(changed)
}

/// Removes a release, unless it changed after `unmodified_since`. Its tag stays.
///
/// # Errors
/// 404 where the tag has none.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    unmodified_since: Option<Ts>,
) -> Result<Release> {
    let found = find(tx, grant.project(), tag)?;
    ensure_may_change(tx, grant.project(), grant.who(), tag)?;
    found.updated_at.ensure_unchanged_since(unmodified_since)?;
    tx.delete_release(found.id)?;
    let place = AuditPlace::Project(grant.project());
    record(tx, &found, AuditRecord::removal("release_deleted", place, "release"));
    Ok(found)
}

/// Removes the releases of tags that were removed.
///
/// # Errors
/// When the database cannot be written.
pub fn tags_removed(tx: &mut Tx<'_>, project: ProjectId, moves: &[MovedRef]) -> Result<()> {
    let removed = moves.iter().filter(|moved| moved.action == PushAction::Removed);
    let tags = removed.filter_map(|moved| moved.name.strip_prefix("refs/tags/"));
    let tags: Vec<String> = tags.map(str::to_owned).collect();
    for release in tx.releases_of_tags(project, &tags)? {
        tx.delete_release(release.id)?;
        let place = AuditPlace::Project(project);
        record(tx, &release, AuditRecord::removal("release_deleted", place, "release"));
    }
    Ok(())
}

/// The name of a release: that of its tag where it has none of its own.
pub fn name_or_tag(name: Option<&str>, tag: &str) -> String {
    let own = name.filter(|name| !name.trim().is_empty());
    own.unwrap_or(tag).to_owned()
}

/// Refuses whoever may not make a protected tag: its release is not theirs to change either.
///
/// # Errors
/// 403
pub fn ensure_may_change(
    tx: &mut Tx<'_>,
    project: ProjectId,
    who: &Standing,
    tag: &str,
) -> Result<()> {
    let protection = Protection::of_tags(tx, who, project)?;
    let tag = protection.tag(tag);
    match !tag.is_protected() || tag.may_create() {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

/// Refuses texts that are too long.
///
/// # Errors
/// 400
pub fn ensure_short(name: Option<&str>, description: Option<&str>) -> Result<()> {
    let is_long =
        |text: Option<&str>, most: usize| text.is_some_and(|text| text.chars().count() > most);
    for (field, text, most) in
        [("name", name, LONGEST_NAME), ("description", description, LONGEST_DESCRIPTION)]
    {
        if is_long(text, most) {
            let text = format!("is too long (maximum is {most} characters)");
            return Err(Error::invalid(field, text));
        }
    }
    Ok(())
}

fn event(grant: &Grant<PushCode>, release: &Release, action: ReleaseAction) -> Event {
    Event { project: grant.project(), user: grant.actor().id, tag: release.tag.clone(), action }
}

fn record(tx: &mut Tx<'_>, row: &Release, action: AuditRecord) {
    tx.mention(action.target("Release", row.id.0, &row.tag));
}
