//! Rows of an archive whose names are taken: people, and what they push, may make some while it is read.

use std::mem;

use db::{
    Tx,
    archive::{self, Cell, Relation},
};
use kernel::Result;

/// What is done where the archive has a row, and another one of the same name is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precedence {
    /// The one that is there stands for the archive's, and gets what belongs to that.
    Union,
    /// The one that is there stays as it is. The archive's is left out with all that belongs to it, which may contradict
    /// what belongs to the other one.
    Present,
    /// The one that is there is removed. Those whom either of two protections lets in are more than one of them allows.
    Archive,
}

/// The column by which rows are told from one another.
static NAMES: [(&str, &str, Precedence); 9] = [
    ("labels", "name", Precedence::Union),
    ("milestones", "title", Precedence::Union),
    ("job_specs", "digest", Precedence::Union),
    ("resource_groups", "key", Precedence::Union),
    ("environments", "name", Precedence::Union),
    ("releases", "tag", Precedence::Present),
    ("protected_branches", "name", Precedence::Archive),
    ("protected_tags", "name", Precedence::Archive),
    ("protected_environments", "name", Precedence::Archive),
];

/// Takes rows away whose names are taken; returns their ids in the archive with those of the rows that stand for them.
pub(super) fn take_away(
    tx: &mut Tx<'_>,
    relation: &Relation,
    home: i64,
    rows: &mut Vec<Vec<Cell>>,
    ids: &mut Vec<i64>,
) -> Result<Vec<(i64, i64)>> {
    let Some((_, column, precedence)) = NAMES.iter().find(|(of, ..)| *of == relation.name) else {
        return Ok(Vec::new());
    };
    let of_relation = |name: &str| relation.columns.iter().position(|column| column.name == name);
    let Some(place) = of_relation(column) else { return Ok(Vec::new()) };
    let name = |row: &Vec<Cell>| match row.get(place) {
        Some(Cell::Word(name)) => Some(name.clone()),
        _ => None,
    };
    let names: Vec<String> = rows.iter().filter_map(name).collect();
    let known = archive::named(tx, relation, column, home, &names)?;
    if *precedence == Precedence::Archive {
        let twins: Vec<i64> = known.into_values().collect();
        return archive::remove(tx, relation, &twins).map(|()| Vec::new());
    }
    let mut twins = Vec::new();
    for (row, id) in mem::take(rows).into_iter().zip(mem::take(ids)) {
        match name(&row).and_then(|name| known.get(&name)) {
            Some(twin) if *precedence == Precedence::Union => twins.push((id, *twin)),
            Some(_) => {}
            None => {
                rows.push(row);
                ids.push(id);
            }
        }
    }
    Ok(twins)
}
