//! Groups out of an archive: the first one is there already, those below it are made.

use std::{collections::HashMap, path::Path};

use admin::{
    archive::{ArchiveImport, ArchiveImportStore as _},
    import::ImportStep,
};
use db::Tx;
use kernel::{Error, Visibility, ids::NamespaceId};
use org::namespace::archive::{GroupRecord, make_below, restore};
use repo::git::Wiki;
use tokio::task::spawn_blocking;
use worker::Queue as _;

use super::{
    bundle, check,
    failure::ArchiveError,
    import::{context, relation_rows},
    layout, members,
};
use crate::Forge;

/// Places of relations of one group.
const PER_GROUP: i64 = 100;

/// Brings an archive into a group.
pub(super) async fn import(
    forge: &Forge,
    import: &ArchiveImport,
    id: NamespaceId,
    folder: &Path,
) -> Result<(), ArchiveError> {
    let from = folder.to_owned();
    let tree = spawn_blocking(move || check::groups(&from)).await.map_err(Error::internal)??;
    let wiki = folder.join(layout::GROUP_WIKI);
    if import.relation == 0 && import.line == 0 && wiki.exists() {
        bundle::land_wiki(forge, &wiki, Wiki::Group(id)).await?;
    }
    let made = group_ids(forge, import, id, tree.groups.clone()).await?;
    let (mut seen, mut members) = (import.clone(), Vec::new());
    for (place, group) in tree.groups.iter().enumerate() {
        let Some(home) = made.get(&group.id).copied() else { continue };
        let ids = (home.0, group.id);
        let context = context(forge, import, ids, folder, &tree.people).await?;
        let first = i64::try_from(place).unwrap_or(i64::MAX).saturating_mul(PER_GROUP);
        for (number, relation) in layout::group_relations().into_iter().enumerate() {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            let place = first.saturating_add(number).saturating_add(1);
            if place >= seen.relation {
                let path = folder.join(layout::of_group(group.id, relation));
                seen = relation_rows(forge, &context, seen, relation, place, path).await?;
            }
        }
        members.extend(members::of_group(&context, home, folder)?);
    }
    let (own, groups) = (import.id, tree.groups);
    // Until then all of them are private, and have no members of the archive.
    let ended = move |tx: &mut Tx<'_>| {
        let kind = <admin::archive::ReadArchive as worker::Job>::KIND;
        tx.withdraw_work(&format!("{kind}:{own}"))?;
        if !tx.advance_archive_import(own, ImportStep::Finish, None)? {
            return Ok(());
        }
        // Each after the one that it lies in, which bounds who sees it.
        for group in &groups {
            let Some(home) = made.get(&group.id).copied() else { continue };
            review::archive::restore_counters(tx, review::Home::Group(home))?;
            restore(tx, home, group)?;
        }
        members::insert(tx, &members)
    };
    Ok(forge.db.write(ended).await?)
}

/// What the groups of an archive are here. Groups below the first one are found again by their paths.
async fn group_ids(
    forge: &Forge,
    import: &ArchiveImport,
    root: NamespaceId,
    groups: Vec<GroupRecord>,
) -> Result<HashMap<i64, NamespaceId>, ArchiveError> {
    let owner = import.user_id;
    let made = forge.db.write(move |tx: &mut Tx<'_>| {
        let mut made: HashMap<i64, NamespaceId> = HashMap::new();
        for group in &groups {
            let parent = group.parent_id.and_then(|id| made.get(&id).copied());
            let id = match parent {
                Some(parent) => {
                    let hidden = GroupRecord { visibility: Visibility::Private, ..group.clone() };
                    make_below(tx, parent, owner, &hidden)?
                }
                None => root,
            };
            made.insert(group.id, id);
        }
        Ok(made)
    });
    Ok(made.await?)
}
