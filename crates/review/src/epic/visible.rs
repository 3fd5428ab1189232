//! Read access to epics: with access to the group; for confidential epics, with at least the Reporter role there.

use db::{
    Fragment, Tx,
    listing::{ids, list_of},
};
use kernel::{AccessLevel, Actor, Result};

use super::{Epic, EpicStore as _};
use crate::ports::GroupHierarchy;

/// Whether a caller may read the epic of a row.
pub(crate) fn condition(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    actor: Actor,
    row: &str,
) -> Result<Fragment> {
    let group = format!("{row}.namespace_id");
    let seen = places.sees_group(tx, actor, &group)?;
    let reports = places.has_role_in(tx.now, actor, &group, AccessLevel::Reporter);
    Ok(Fragment::new(format!("({seen} AND (NOT {row}.confidential OR {reports}))")))
}

/// Those of these epics that somebody may read, in no order.
pub fn readable(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    actor: Actor,
    epics: &[i64],
) -> Result<Vec<Epic>> {
    if epics.is_empty() {
        return Ok(Vec::new());
    }
    let condition = condition(tx, places, actor, "e")?;
    let sql = format!(
        "SELECT e.id AS id FROM epics e WHERE e.id IN ({}) AND {condition}",
        list_of(epics)
    );
    let seen = ids(tx, &sql, &[])?;
    tx.epics_by_id(&seen)
}
