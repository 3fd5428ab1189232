//! Rows of an archive whose names are taken: people, and what they push, may make some while it is read.

use std::mem;

use db::{
    Tx,
    archive::{self, Cell, Relation},
};
use kernel::Result;

/// The column by which rows are told from one another, where a row that is there stands for the archive's.
const NAMES: [(&str, &str); 5] = [
    ("labels", "name"),
    ("milestones", "title"),
    ("job_specs", "digest"),
    ("resource_groups", "key"),
    ("environments", "name"),
];

/// Takes rows away whose names are taken; returns their ids in the archive with those of the rows that stand for them.
pub(super) fn take_away(
    tx: &mut Tx<'_>,
    relation: &Relation,
    home: i64,
    rows: &mut Vec<Vec<Cell>>,
    ids: &mut Vec<i64>,
) -> Result<Vec<(i64, i64)>> {
    let column = NAMES.iter().find(|(of, _)| *of == relation.name).map(|(_, column)| *column);
    let of_relation = |name: &str| relation.columns.iter().position(|column| column.name == name);
    let Some((column, place)) = column.and_then(|name| Some((name, of_relation(name)?))) else {
        return Ok(Vec::new());
    };
    let name = |row: &Vec<Cell>| match row.get(place) {
        Some(Cell::Word(name)) => Some(name.clone()),
        _ => None,
    };
    let names: Vec<String> = rows.iter().filter_map(name).collect();
    let known = archive::named(tx, relation, column, home, &names)?;
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let mut twins = Vec::new();
    for (row, id) in mem::take(rows).into_iter().zip(mem::take(ids)) {
        match name(&row).and_then(|name| known.get(&name)) {
            Some(twin) => twins.push((id, *twin)),
            None => {
                rows.push(row);
                ids.push(id);
            }
        }
    }
    Ok(twins)
}
