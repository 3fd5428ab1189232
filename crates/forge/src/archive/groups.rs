//! Groups out of an archive: the first one is there already, those below it are made.

use std::{collections::HashMap, path::Path, sync::Arc};

use admin::{
    archive::{ArchiveIdStore as _, ArchiveImport, ArchiveImportStore as _},
    import::ImportStep,
};
use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Visibility,
    ids::{NamespaceId, UserId},
    task::spawn_blocking,
};
use org::{
    access::{level_in_namespace, lock_access_projection},
    namespace::{
        actions::set_avatar,
        archive::{GroupRecord, announce, are_below, make_below, restore},
    },
    user::store::UserStore as _,
};
use repo::git::Wiki;

use super::{
    bundle, check,
    failure::ArchiveError,
    import::{context, locate, relation_rows},
    layout, members, picture,
    progress::withdraw,
    rows::Context,
    steps::{self, StepCursor},
};
use crate::{Forge, files::avatars::Owner};

/// The relation under which the ids of the groups below the first one are kept.
pub(super) const RELATION: &str = "groups";

/// A group of an archive: what it is there, and here.
#[derive(Clone, Debug)]
struct ImportedGroup {
    record: GroupRecord,
    home: NamespaceId,
}

/// Brings an archive into a group.
pub(super) async fn import(
    forge: &Forge,
    import: &ArchiveImport,
    id: NamespaceId,
    folder: &Path,
) -> Result<(), ArchiveError> {
    let from = folder.to_owned();
    let tree = spawn_blocking(move || check::groups(&from)).await.map_err(Error::internal)??;
    let all = steps::of_groups(tree.groups.len());
    ensure_possible(forge, import, id).await?;
    let (import, cursor) = locate(forge, import, &all).await?;
    let groups = make_groups(forge, &import, id, tree.groups, tree.numbers).await?;
    if import.relation == 0 {
        land_pictures(forge, &groups, folder).await?;
        land_wikis(forge, &groups, folder).await?;
    }
    let source = groups.first().map_or(0, |group| group.record.id);
    let context = context(forge, &import, (id.0, source), folder, &tree.people).await?;
    let owner = import.user_id;
    let seen = write_rows(forge, &context, (import, cursor), &groups, folder).await?;
    let mut members = Vec::new();
    for group in &groups {
        members.extend(members::of_group(&group.context(&context), group.home, folder)?);
    }
    // Until then all of them are private, and have no members of the archive.
    let ended = move |tx: &mut Tx<'_>| {
        lock_access_projection(tx)?;
        let below: Vec<NamespaceId> = groups.iter().skip(1).map(|group| group.home).collect();
        // Whoever is an Owner may give every role.
        if let Some(obstacle) = obstacle(tx, owner, id, &below)? {
            return Ok(Err(obstacle));
        }
        withdraw(tx, seen.id)?;
        if !tx.advance_archive_import(seen.id, ImportStep::Finish, None)? {
            return Ok(Ok(()));
        }
        finish(tx, owner, &groups)?;
        members::insert(tx, &members).map(Ok)
    };
    forge.db.write(ended).await?
}

impl ImportedGroup {
    /// The context of its rows.
    fn context(&self, of_archive: &Context) -> Context {
        Context { home: self.home.0, source_home: self.record.id, ..of_archive.clone() }
    }
}

/// Writes the rows of one relation for all groups before those of the next one: items name others of groups above and
/// below.
async fn write_rows(
    forge: &Forge,
    context: &Context,
    (import, cursor): (ArchiveImport, StepCursor),
    groups: &[ImportedGroup],
    folder: &Path,
) -> Result<ArchiveImport, ArchiveError> {
    let mut seen = import;
    for relation in layout::group_relations() {
        for (number, group) in groups.iter().enumerate() {
            if let Some(place) = cursor.place(&steps::of_group(relation, number)) {
                let context = Arc::new(group.context(context));
                let path = folder.join(layout::of_group(group.record.id, relation));
                seen = relation_rows(forge, &context, seen, relation, place, path).await?;
            }
        }
    }
    Ok(seen)
}

/// Brings the pictures of all groups; done again, it writes the same ones.
async fn land_pictures(
    forge: &Forge,
    groups: &[ImportedGroup],
    folder: &Path,
) -> Result<(), ArchiveError> {
    for group in groups {
        let Some(name) = &group.record.avatar else { continue };
        let staged = picture::stage_of_group(forge, folder, group.record.id, name).await?;
        let home = group.home;
        let written = forge.db.write(move |tx: &mut Tx<'_>| {
            set_avatar(tx, home, staged.name.clone())?;
            staged.commit(tx, Owner::Group(home))
        });
        written.await?;
    }
    Ok(())
}

/// Brings the wikis of all groups; done again, it does what is left.
async fn land_wikis(
    forge: &Forge,
    groups: &[ImportedGroup],
    folder: &Path,
) -> Result<(), ArchiveError> {
    for (number, group) in groups.iter().enumerate() {
        let path = match number {
            0 => folder.join(layout::GROUP_WIKI),
            _ => folder.join(layout::group_wiki(group.record.id)),
        };
        if path.exists() {
            bundle::land_wiki(forge, &path, Wiki::Group(group.home)).await?;
        }
    }
    Ok(())
}

/// Shows the groups, and tells of those below the first one, of which nobody was told before.
fn finish(tx: &mut Tx<'_>, owner: UserId, groups: &[ImportedGroup]) -> kernel::Result<()> {
    // Each after the one that it lies in, which bounds who sees it.
    for (number, group) in groups.iter().enumerate() {
        review::archive::restore_counters(tx, review::Home::Group(group.home))?;
        restore(tx, group.home, owner, &group.record)?;
        if number > 0 {
            announce(tx, group.home, owner)?;
        }
    }
    Ok(())
}

/// Makes the groups of an archive, and keeps its numbers for it. Those below the first one are known by their ids in the
/// archive once they are there, whatever people call them then.
async fn make_groups(
    forge: &Forge,
    import: &ArchiveImport,
    root: NamespaceId,
    groups: Vec<GroupRecord>,
    numbers: HashMap<i64, HashMap<&'static str, i64>>,
) -> Result<Vec<ImportedGroup>, ArchiveError> {
    let (id, owner, records) = (import.id, import.user_id, groups.clone());
    let made = forge.db.write(move |tx: &mut Tx<'_>| {
        // Nobody makes them at the same time, or takes a role away.
        lock_access_projection(tx)?;
        let mut made: HashMap<i64, NamespaceId> = HashMap::new();
        for (source, home) in tx.all_archive_ids(id, RELATION)? {
            made.insert(source, NamespaceId(home));
        }
        let below: Vec<NamespaceId> = made.values().copied().collect();
        if let Some(obstacle) = obstacle(tx, owner, root, &below)? {
            return Ok(Err(obstacle));
        }
        let mut new = Vec::new();
        for group in &groups {
            let parent = group.parent_id.and_then(|id| made.get(&id).copied());
            let home = match (made.get(&group.id), parent) {
                (Some(home), _) => *home,
                (None, Some(parent)) => {
                    let hidden = GroupRecord { visibility: Visibility::Private, ..group.clone() };
                    let home = make_below(tx, parent, owner, &hidden)?;
                    new.push((group.id, home.0));
                    home
                }
                (None, None) => root,
            };
            if let Some(last) = numbers.get(&group.id) {
                review::archive::reserve_numbers(tx, review::Home::Group(home), last)?;
            }
            made.insert(group.id, home);
        }
        tx.insert_archive_ids(id, RELATION, &new)?;
        Ok(Ok(made))
    });
    let made = made.await??;
    let found = |record: GroupRecord| {
        let home = made.get(&record.id).copied()?;
        Some(ImportedGroup { record, home })
    };
    Ok(records.into_iter().filter_map(found).collect())
}

/// Refuses an archive that cannot become a group, and those that it has made below it, any more. An import that begins anew
/// forgets those that were moved elsewhere, so this comes before.
async fn ensure_possible(
    forge: &Forge,
    import: &ArchiveImport,
    root: NamespaceId,
) -> Result<(), ArchiveError> {
    let (id, owner) = (import.id, import.user_id);
    let found = forge.db.read(move |tx: &mut Tx<'_>| {
        let made = tx.all_archive_ids(id, RELATION)?.into_values();
        obstacle(tx, owner, root, &made.map(NamespaceId).collect::<Vec<_>>())
    });
    found.await?.map_or(Ok(()), Err)
}

/// Why an archive cannot become a group, and these below it, any more.
fn obstacle(
    tx: &mut Tx<'_>,
    importer: UserId,
    root: NamespaceId,
    below: &[NamespaceId],
) -> kernel::Result<Option<ArchiveError>> {
    if !are_below(tx, root, below)? {
        return Ok(Some(ArchiveError::flawed(
            "A group of the archive was removed, or moved elsewhere, while the archive was imported.",
        )));
    }
    let user = tx.user(importer)?;
    let actor = Actor { id: Some(importer), ..Actor::ANONYMOUS };
    let is_owner = user.admin || level_in_namespace(tx, actor, root)? >= AccessLevel::Owner;
    let may_import = is_owner && !user.state.is_blocked();
    Ok((!may_import).then(|| {
        ArchiveError::flawed(
            "Whoever imports the archive is blocked, or no Owner of the group any more.",
        )
    }))
}
