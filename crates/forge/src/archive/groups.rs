//! Groups out of an archive: the first one is there already, those below it are made.

use std::{collections::HashMap, path::Path, sync::Arc};

use admin::{
    archive::{ArchiveImport, ArchiveImportStore as _},
    import::ImportStep,
};
use db::Tx;
use kernel::{
    Error, Visibility,
    ids::{NamespaceId, UserId},
};
use org::namespace::{
    actions::set_avatar,
    archive::{GroupRecord, announce, make_below, restore},
};
use repo::git::Wiki;
use tokio::task::spawn_blocking;

use super::{
    bundle, check,
    failure::ArchiveError,
    import::{context, relation_rows},
    layout, members, picture,
    progress::withdraw,
    rows::Context,
};
use crate::{Forge, files::avatars::Owner};

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
    let groups = make_groups(forge, import, id, tree.groups, tree.numbers).await?;
    if import.relation == 0 {
        land_pictures(forge, &groups, folder).await?;
        land_wikis(forge, &groups, folder).await?;
    }
    let source = groups.first().map_or(0, |group| group.record.id);
    let context = context(forge, import, (id.0, source), folder, &tree.people).await?;
    let seen = write_rows(forge, &context, import.clone(), &groups, folder).await?;
    let mut members = Vec::new();
    for group in &groups {
        members.extend(members::of_group(&group.context(&context), group.home, folder)?);
    }
    let owner = import.user_id;
    // Until then all of them are private, and have no members of the archive.
    let ended = move |tx: &mut Tx<'_>| {
        withdraw(tx, seen.id)?;
        if !tx.advance_archive_import(seen.id, ImportStep::Finish, None)? {
            return Ok(());
        }
        finish(tx, owner, &groups)?;
        members::insert(tx, &members)
    };
    Ok(forge.db.write(ended).await?)
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
    import: ArchiveImport,
    groups: &[ImportedGroup],
    folder: &Path,
) -> Result<ArchiveImport, ArchiveError> {
    let (mut seen, mut place) = (import, 0);
    for relation in layout::group_relations() {
        for group in groups {
            place += 1;
            if place >= seen.relation {
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

/// Makes the groups of an archive, and keeps its numbers for it. Groups below the first one are found again by their paths.
async fn make_groups(
    forge: &Forge,
    import: &ArchiveImport,
    root: NamespaceId,
    groups: Vec<GroupRecord>,
    numbers: HashMap<i64, HashMap<&'static str, i64>>,
) -> Result<Vec<ImportedGroup>, ArchiveError> {
    let (owner, records) = (import.user_id, groups.clone());
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
            if let Some(last) = numbers.get(&group.id) {
                review::archive::reserve_numbers(tx, review::Home::Group(id), last)?;
            }
            made.insert(group.id, id);
        }
        Ok(made)
    });
    let made = made.await?;
    let found = |record: GroupRecord| {
        let home = made.get(&record.id).copied()?;
        Some(ImportedGroup { record, home })
    };
    Ok(records.into_iter().filter_map(found).collect())
}
