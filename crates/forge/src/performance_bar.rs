//! Request timings, for members of the group that the settings name.

use db::Tx;
use kernel::{AccessLevel::Guest, Actor, Result, ids::NamespaceId};
use org::{
    access::{IdOrPath, locate_group},
    namespace::store::NamespaceStore as _,
    settings::Settings,
};

use crate::Forge;

/// Whether somebody is told how long their requests take.
///
/// # Errors
/// When the database cannot be read.
pub async fn is_shown_to(forge: &Forge, actor: Actor) -> Result<bool> {
    let settings = forge.settings();
    let Some(path) = settings.performance_bar_allowed_group_path().map(str::to_owned) else {
        return Ok(false);
    };
    if actor.id.is_none() {
        return Ok(false);
    }
    let found = move |tx: &mut Tx<'_>| match locate_group(tx, actor, &IdOrPath::parse(&path)) {
        Ok((_, who)) => Ok(who.is(Guest)),
        Err(absent) if absent.is_gone() => Ok(false),
        Err(failure) => Err(failure),
    };
    forge.db.peek(found).await
}

/// The id of the group that the settings name, if there is such a group.
pub fn allowed_group(tx: &mut Tx<'_>, settings: &Settings) -> Result<Option<NamespaceId>> {
    let Some(path) = settings.performance_bar_allowed_group_path() else { return Ok(None) };
    let found = match IdOrPath::parse(path) {
        IdOrPath::Id(id) => tx.find_namespace(NamespaceId(id))?,
        IdOrPath::Path(path) => tx.find_namespace_at(&path)?,
    };
    Ok(found.map(|group| group.id))
}
