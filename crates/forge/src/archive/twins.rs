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
    /// The one that is there is removed. Those whom either of two protections lets in are more than one of them allows, and
    /// of rules for every approver a project has one.
    Archive,
}

/// The text by which rows of a relation are told from one another.
#[derive(Debug)]
struct RowName {
    relation: &'static str,
    column: &'static str,
    /// Which rows are told so, in SQL.
    condition: &'static str,
    /// The only text that no two of them share, where others are shared.
    word: Option<&'static str>,
    precedence: Precedence,
}

static NAMES: [RowName; 10] = [
    RowName::new("labels", "name", Precedence::Union),
    RowName::new("milestones", "title", Precedence::Union),
    RowName::new("job_specs", "digest", Precedence::Union),
    RowName::new("resource_groups", "key", Precedence::Union),
    RowName::new("environments", "name", Precedence::Union),
    RowName::new("releases", "tag", Precedence::Present),
    RowName::new("protected_branches", "name", Precedence::Archive),
    RowName::new("protected_tags", "name", Precedence::Archive),
    RowName::new("protected_environments", "name", Precedence::Archive),
    RowName {
        condition: "merge_request_id IS NULL",
        word: Some("any_approver"),
        ..RowName::new("approval_rules", "rule_type", Precedence::Archive)
    },
];

impl RowName {
    const fn new(relation: &'static str, column: &'static str, precedence: Precedence) -> Self {
        Self { relation, column, condition: "TRUE", word: None, precedence }
    }

    fn is_shared(&self, text: &str) -> bool {
        self.word.is_some_and(|word| word != text)
    }
}

/// Takes rows away whose names are taken; returns their ids in the archive with those of the rows that stand for them.
pub(super) fn take_away(
    tx: &mut Tx<'_>,
    relation: &Relation,
    home: i64,
    rows: &mut Vec<Vec<Cell>>,
    ids: &mut Vec<i64>,
) -> Result<Vec<(i64, i64)>> {
    let Some(of) = NAMES.iter().find(|of| of.relation == relation.name) else {
        return Ok(Vec::new());
    };
    let place = relation.columns.iter().position(|column| column.name == of.column);
    let Some(place) = place else { return Ok(Vec::new()) };
    let name = |row: &Vec<Cell>| match row.get(place) {
        Some(Cell::Word(name)) if !of.is_shared(name) => Some(name.clone()),
        _ => None,
    };
    let names: Vec<String> = rows.iter().filter_map(name).collect();
    let known = archive::named(tx, relation, of.column, of.condition, home, &names)?;
    if of.precedence == Precedence::Archive {
        let twins: Vec<i64> = known.into_values().collect();
        return archive::remove(tx, relation, &twins).map(|()| Vec::new());
    }
    let mut twins = Vec::new();
    for (row, id) in mem::take(rows).into_iter().zip(mem::take(ids)) {
        match name(&row).and_then(|name| known.get(&name)) {
            Some(twin) if of.precedence == Precedence::Union => twins.push((id, *twin)),
            Some(_) => {}
            None => {
                rows.push(row);
                ids.push(id);
            }
        }
    }
    Ok(twins)
}
