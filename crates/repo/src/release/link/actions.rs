//! Making, changing and removing links of releases.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    Error, Grant, Result,
    ids::{ReleaseId, ReleaseLinkId},
};

use super::{
    model::{LinkChange, NewLink, ReleaseLink, sound},
    store::ReleaseLinkStore as _,
};
use crate::{
    policy::PushCode,
    release::{Release, ReleaseStore as _, actions},
};

/// Links that one release may have.
const MOST_LINKS: usize = 1000;

/// A link of a release.
///
/// # Errors
/// 404 where the release has no such link.
pub fn find(tx: &mut Tx<'_>, release: &Release, id: ReleaseLinkId) -> Result<ReleaseLink> {
    tx.find_release_link(release.id, id)?.ok_or_else(Error::missing)
}

/// Adds a link to the release of a tag.
///
/// # Errors
/// 404 where the tag has no release; 400 for what cannot be a link, or one that the release has.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    new: NewLink,
) -> Result<ReleaseLink> {
    let release = actions::find(tx, grant.project(), tag)?;
    actions::ensure_may_change(tx, grant.project(), grant.who(), tag)?;
    let others = others(tx, release.id, None)?;
    new.faults(&others).into_result()?;
    if others.len() >= MOST_LINKS {
        return Err(Error::bad_request().whole(format!("A release has at most {MOST_LINKS} links")));
    }
    let name = new.name.clone();
    tx.insert_release_links(&[(release.id, new)])?;
    tx.touch_release(release.id)?;
    let all = tx.links_of_releases(&[release.id])?.remove(&release.id).unwrap_or_default();
    all.into_iter().find(|link| link.name == name).ok_or_else(Error::conflict)
}

/// Changes a link of the release of a tag.
///
/// # Errors
/// As [`create`]; 404 for links that the release has not.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    id: ReleaseLinkId,
    change: LinkChange,
) -> Result<ReleaseLink> {
    let release = actions::find(tx, grant.project(), tag)?;
    actions::ensure_may_change(tx, grant.project(), grant.who(), tag)?;
    let new = change.applied(&find(tx, &release, id)?);
    let others = others(tx, release.id, Some(id))?;
    new.faults(&others).into_result()?;
    tx.touch_release(release.id)?;
    tx.save_release_link(id, &new)
}

/// Removes a link of the release of a tag.
///
/// # Errors
/// 404 where the tag has no release, and for links that it has not.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<PushCode>,
    tag: &str,
    id: ReleaseLinkId,
) -> Result<ReleaseLink> {
    let release = actions::find(tx, grant.project(), tag)?;
    actions::ensure_may_change(tx, grant.project(), grant.who(), tag)?;
    let found = find(tx, &release, id)?;
    tx.delete_release_link(id)?;
    tx.touch_release(release.id)?;
    Ok(found)
}

/// Refuses links that one release cannot have together.
///
/// # Errors
/// 400
pub fn ensure_sound(all: &[NewLink]) -> Result<()> {
    if all.len() > MOST_LINKS {
        return Err(Error::bad_request().whole(format!("A release has at most {MOST_LINKS} links")));
    }
    for (place, link) in all.iter().enumerate() {
        let faults = link.faults(all.get(..place).unwrap_or_default()).into_fields();
        if !faults.is_empty() {
            let named = faults.into_iter().map(|(field, texts)| (format!("links.{field}"), texts));
            return Err(Error::bad_request().fields(named.collect()));
        }
    }
    Ok(())
}

/// Adds those of some links that can be links to releases that have none yet, by their tags.
///
/// # Errors
/// When the database cannot be written.
pub fn insert_imported(
    tx: &mut Tx<'_>,
    releases: &[Release],
    mut links: HashMap<String, Vec<NewLink>>,
) -> Result<()> {
    let mut all = Vec::new();
    for release in releases {
        let mut own = sound(links.remove(&release.tag).unwrap_or_default());
        own.truncate(MOST_LINKS);
        // The newest is the first of a list.
        all.extend(own.into_iter().rev().map(|link| (release.id, link)));
    }
    tx.insert_release_links(&all)
}

fn others(tx: &mut Tx<'_>, release: ReleaseId, but: Option<ReleaseLinkId>) -> Result<Vec<NewLink>> {
    let all = tx.links_of_releases(&[release])?.remove(&release).unwrap_or_default();
    Ok(all.into_iter().filter(|link| Some(link.id) != but).map(NewLink::from).collect())
}
