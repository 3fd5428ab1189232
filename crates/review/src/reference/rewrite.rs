//! Texts that go elsewhere, from one project to another or to a group: what they name is named in full, so that it is
//! the same there.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use db::{
    Tx, each_backend, error,
    schema::{issues, merge_requests},
};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

use super::{
    code::without_code,
    parse::{ItemName, Reference, find},
};
use crate::{
    Home,
    item::{ItemKind, reading::AT_ONCE},
    ports::Forge,
};

/// Texts of a project as they are written in another place.
pub(crate) fn rewritten(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    from: ProjectId,
    to: Home,
    texts: Vec<String>,
) -> Result<Vec<String>> {
    if to == Home::Project(from) {
        return Ok(texts);
    }
    let found: Vec<ReferenceSpans> =
        texts.iter().map(|text| find(&without_code(text), forge.address())).collect();
    let names: HashSet<&ItemName> = found
        .iter()
        .flatten()
        .filter_map(|(_, reference)| match reference {
            Reference::Item(name) => Some(name),
            _ => None,
        })
        .collect();
    let names = full_names(tx, forge, from, to, &names)?;
    Ok(texts.iter().zip(&found).map(|(text, found)| renamed(text, found, &names)).collect())
}

/// The references in a text, with their byte ranges.
type ReferenceSpans = Vec<(Range<usize>, Reference)>;

fn renamed(text: &str, found: &ReferenceSpans, names: &HashMap<ItemName, String>) -> String {
    let (mut new, mut at) = (String::with_capacity(text.len()), 0);
    for (place, reference) in found {
        let Reference::Item(name) = reference else { continue };
        let Some(full) = names.get(name) else { continue };
        new.push_str(&text[at..place.start]);
        new.push_str(full);
        at = place.end;
    }
    new.push_str(&text[at..]);
    new
}

/// The full names of those that mean something in the project, and would mean something else in the other place.
fn full_names(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    from: ProjectId,
    to: Home,
    names: &HashSet<&ItemName>,
) -> Result<HashMap<ItemName, String>> {
    let mut full = HashMap::new();
    if names.is_empty() {
        return Ok(full);
    }
    let path = forge.paths(tx, &[from])?.remove(&from).unwrap_or_default();
    let around = path.rsplit_once('/').map_or("", |(around, _)| around);
    let known = known_items(tx, from, names)?;
    let neighbours = neighbours(tx, forge, around, to, names)?;
    let group = epics_home(tx, forge, from, to, names)?;
    for name in names {
        let place = match (&name.project, name.kind) {
            (None, ItemKind::Epic) => group.clone(),
            (None, kind) => known.contains(&(kind, name.iid)).then(|| path.clone()),
            (Some(_), ItemKind::Epic) => None,
            (Some(own), _) => neighbours.contains(own).then(|| format!("{around}/{own}")),
        };
        if let Some(place) = place {
            full.insert((*name).clone(), format!("{place}{}{}", name.kind.sign(), name.iid));
        }
    }
    Ok(full)
}

/// Those of the project that are named by their numbers alone: other numbers may be no names at all.
fn known_items(
    tx: &mut Tx<'_>,
    from: ProjectId,
    names: &HashSet<&ItemName>,
) -> Result<HashSet<(ItemKind, i64)>> {
    let of = |kind: ItemKind| -> Vec<i64> {
        let bare = names.iter().filter(|name| name.project.is_none() && name.kind == kind);
        bare.map(|name| name.iid).collect()
    };
    let mut known = HashSet::new();
    for iids in of(ItemKind::Issue).chunks(AT_ONCE) {
        let rows = issues::table
            .filter(issues::project_id.eq(from).and(issues::iid.eq_any(iids)))
            .select(issues::iid);
        let rows: Vec<i64> = each_backend!(tx, |conn| rows.load(conn).map_err(error("Issue")))?;
        known.extend(rows.into_iter().map(|iid| (ItemKind::Issue, iid)));
    }
    for iids in of(ItemKind::MergeRequest).chunks(AT_ONCE) {
        let rows = merge_requests::table
            .filter(merge_requests::project_id.eq(from).and(merge_requests::iid.eq_any(iids)))
            .select(merge_requests::iid);
        let rows: Vec<i64> =
            each_backend!(tx, |conn| rows.load(conn).map_err(error("Merge request")))?;
        known.extend(rows.into_iter().map(|iid| (ItemKind::MergeRequest, iid)));
    }
    Ok(known)
}

/// So many projects are looked up; nobody names more.
const MOST_NEIGHBOURS: usize = 20;

/// Projects beside that of the texts which are named by their own path alone, where the other place is beside others.
fn neighbours(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    around: &str,
    to: Home,
    names: &HashSet<&ItemName>,
) -> Result<HashSet<String>> {
    let there = match to {
        Home::Project(project) => forge.paths(tx, &[project])?.remove(&project),
        Home::Group(_) => None,
    };
    let is_beside = there.and_then(|path| path.rsplit_once('/').map(|(there, _)| there == around));
    if is_beside == Some(true) {
        return Ok(HashSet::new());
    }
    let own = names.iter().filter(|name| name.kind != ItemKind::Epic);
    let own = own.filter_map(|name| name.project.as_ref()).filter(|path| !path.contains('/'));
    let own: BTreeSet<&String> = own.collect();
    let mut known = HashSet::new();
    for path in own.into_iter().take(MOST_NEIGHBOURS) {
        if forge.project_at(tx, &format!("{around}/{path}"))?.is_some() {
            known.insert(path.clone());
        }
    }
    Ok(known)
}

/// The group whose epics the texts name by their numbers alone, where the other place has another one.
fn epics_home(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    from: ProjectId,
    to: Home,
    names: &HashSet<&ItemName>,
) -> Result<Option<String>> {
    if !names.iter().any(|name| name.kind == ItemKind::Epic && name.project.is_none()) {
        return Ok(None);
    }
    let own = forge.above(tx, Home::Project(from))?.first().copied();
    let there = match to {
        Home::Project(_) => forge.above(tx, to)?.first().copied(),
        Home::Group(group) => Some(group),
    };
    match own.filter(|own| Some(*own) != there) {
        Some(group) => Ok(forge.group_paths(tx, &[group])?.remove(&group)),
        None => Ok(None),
    }
}
