//! From JSON to values, each checked against what its column may have.

use std::{collections::HashMap, sync::Arc};

use kernel::{AccessLevel, Ts};
use serde_json::Value;

use super::{ArchiveRow, Column, Field, Relation};

/// A value as a statement gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Number(i64),
    Word(String),
    /// A number with digits after the point, as text.
    Decimal(String),
    Flag(bool),
    Fixed(&'static str),
}

/// The reason for which a row is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{relation}: {column} {problem}")]
pub struct Flaw {
    relation: &'static str,
    column: String,
    problem: &'static str,
}

/// Local ids by the ids of an archive.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub home: i64,
    pub importer: i64,
    pub people: Arc<HashMap<i64, i64>>,
    pub rows: HashMap<(&'static str, i64), i64>,
}

/// Looks whether a row has the form that its relation asks for; adds the rows that it names.
///
/// # Errors
/// The first flaw.
pub fn first_pass(
    relation: &'static Relation,
    row: &ArchiveRow,
    named: &mut Vec<(&'static str, i64)>,
) -> Result<(), Flaw> {
    if relation.has_id() && row.get("id").and_then(Value::as_i64).is_none_or(|id| id <= 0) {
        return Err(flaw(relation, "id", "is not an id"));
    }
    for column in relation.columns {
        if let (Some(of), Some(id)) = reference(relation, column, row)? {
            named.push((of, id));
        }
    }
    Ok(())
}

/// The values of a row in the order of its relation's columns; nothing where the row speaks of somebody or something
/// that is not there.
///
/// # Errors
/// The first flaw.
pub fn cells(
    relation: &'static Relation,
    row: &ArchiveRow,
    names: &Names,
) -> Result<Option<Vec<Cell>>, Flaw> {
    let mut cells = Vec::with_capacity(relation.columns.len());
    for column in relation.columns {
        let (of, id) = reference(relation, column, row)?;
        let cell = match (column.field, of, id) {
            (Field::Home, ..) => Cell::Number(names.home),
            (Field::Fixed(sql), ..) => Cell::Fixed(sql),
            (Field::Derived(derive), ..) => derive(row).map_or(Cell::Null, Cell::Word),
            (Field::Author, _, Some(id)) => {
                Cell::Number(names.people.get(&id).copied().unwrap_or(names.importer))
            }
            (Field::Doer(action, is_own), _, Some(id)) => {
                let own = row.get(action).and_then(Value::as_str).is_some_and(is_own);
                let other = if own { None } else { Some(names.importer) };
                names.people.get(&id).copied().or(other).map_or(Cell::Null, Cell::Number)
            }
            (Field::Person, _, Some(id)) => {
                names.people.get(&id).map_or(Cell::Null, |id| Cell::Number(*id))
            }
            // Columns that may say so name nothing by it.
            (_, Some(_), Some(0)) => Cell::Number(0),
            (_, Some(of), Some(id)) => {
                names.rows.get(&(of, id)).map_or(Cell::Null, |id| Cell::Number(*id))
            }
            _ => plain(column, row.get(column.name).unwrap_or(&Value::Null)),
        };
        let is_needed = column.is_required || column.is_strict && id.is_some();
        if is_needed && cell == Cell::Null {
            return Ok(None);
        }
        cells.push(cell);
    }
    Ok(Some(cells))
}

/// The target of a reference: a relation with an id in it, or a user.
type Reference = (Option<&'static str>, Option<i64>);

fn reference(
    relation: &'static Relation,
    column: &Column,
    row: &ArchiveRow,
) -> Result<Reference, Flaw> {
    let none = (None, None);
    let wrong = |problem| Err(flaw(relation, column.name, problem));
    if let Some(other) = column.alternative {
        match (has_value(row, column.name), has_value(row, other)) {
            (true, true) => return wrong("excludes another value of the row"),
            (false, false) => return wrong("is missing"),
            _ => {}
        }
    }
    let value = match (column.field, row.get(column.name)) {
        (Field::Home | Field::Fixed(_) | Field::Derived(_), _) => return Ok(none),
        (_, None | Some(Value::Null)) if column.is_required => return wrong("is missing"),
        (_, None | Some(Value::Null)) => return Ok(none),
        (_, Some(value)) => value,
    };
    let least = i64::from(!column.may_be_zero);
    let id = value.as_i64().filter(|id| *id >= least);
    match column.field {
        Field::Author | Field::Doer(..) | Field::Person => match id {
            Some(id) => Ok((None, Some(id))),
            None => wrong("is not an id"),
        },
        Field::Row(of) | Field::Itself(of) => match id {
            Some(id) => Ok((Some(of), Some(id))),
            None => wrong("is not an id"),
        },
        Field::Item(kind) => {
            let kinds = match relation.column(kind).map(|column| column.field) {
                Some(Field::Kind(kinds)) => kinds,
                _ => &[],
            };
            let of = row.get(kind).and_then(|value| relation_of(kinds, value));
            match (of, id) {
                (Some(of), Some(id)) => Ok((Some(of), Some(id))),
                _ => wrong("is not an id"),
            }
        }
        field => value_flaw(field, value).map_or(Ok(none), wrong),
    }
}

fn has_value(row: &ArchiveRow, column: &str) -> bool {
    row.get(column).is_some_and(|value| !value.is_null())
}

/// What is wrong with a value that names no row.
pub(super) fn value_flaw(field: Field, value: &Value) -> Option<&'static str> {
    let unless = |fits: bool, problem| (!fits).then_some(problem);
    match field {
        Field::Text(most) => match value.as_str() {
            Some(text) if text.contains('\0') => Some("has a character that texts cannot have"),
            Some(text) => unless(text.chars().count() <= most, "is too long"),
            None => Some("is not a text"),
        },
        Field::Choice(is_one) => {
            let fits = |text: &str| !text.contains('\0') && is_one(text);
            unless(value.as_str().is_some_and(fits), "does not have a valid value")
        }
        Field::Word(written) => {
            unless(value.as_str().and_then(written).is_some(), "does not have a valid value")
        }
        Field::Kind(kinds) => {
            unless(relation_of(kinds, value).is_some(), "does not have a valid value")
        }
        Field::Number(least, most) => match value.as_i64() {
            Some(number) => unless((least..=most).contains(&number), "is out of range"),
            None => Some("is not a number"),
        },
        Field::Decimal(least, most) => match value.as_f64() {
            Some(number) => unless((least..=most).contains(&number), "is out of range"),
            None => Some("is not a number"),
        },
        Field::Level(least, most) => {
            let number = value.as_i64().filter(|number| (least..=most).contains(number));
            unless(number.and_then(AccessLevel::find).is_some(), "is not an access level")
        }
        Field::Flag => unless(value.is_boolean(), "is neither true nor false"),
        Field::Moment => unless(value.as_str().and_then(Ts::parse).is_some(), "is not a moment"),
        Field::Home
        | Field::Fixed(_)
        | Field::Derived(_)
        | Field::Author
        | Field::Doer(..)
        | Field::Person
        | Field::Row(_)
        | Field::Itself(_)
        | Field::Item(_) => None,
    }
}

fn relation_of(
    kinds: &'static [(&'static str, &'static str)],
    value: &Value,
) -> Option<&'static str> {
    let word = value.as_str()?;
    kinds.iter().find(|(kind, _)| *kind == word).map(|(_, relation)| *relation)
}

fn plain(column: &Column, value: &Value) -> Cell {
    match value {
        Value::String(text) if matches!(column.field, Field::Moment) => {
            Ts::parse(text).map_or(Cell::Null, |at| Cell::Number(at.0))
        }
        Value::String(text) => match column.field {
            Field::Word(written) => {
                written(text).map_or(Cell::Null, |word| Cell::Word(word.to_owned()))
            }
            _ => Cell::Word(text.clone()),
        },
        Value::Bool(flag) => Cell::Flag(*flag),
        Value::Number(number) if matches!(column.field, Field::Decimal(..)) => {
            Cell::Decimal(number.to_string())
        }
        Value::Number(_) => value.as_i64().map_or(Cell::Null, Cell::Number),
        Value::Null | Value::Array(_) | Value::Object(_) => Cell::Null,
    }
}

fn flaw(relation: &Relation, column: &str, problem: &'static str) -> Flaw {
    Flaw { relation: relation.name, column: column.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Value, json};

    use super::{Cell, Column, Field, Names, Relation, cells, first_pass};

    static NOTES: Relation = Relation {
        name: "notes",
        table: "notes",
        scope: "project_id = $1",
        key: &["id"],
        columns: &[
            Column::home("project_id"),
            Column::new("item_kind", Field::Kind(&[("Issue", "issues")])),
            Column::new("item_id", Field::Item("item_kind")),
            Column::new("body", Field::Text(5)),
            Column::author("author_id"),
            Column::person("resolved_by_id").optional(),
            Column::flag("internal"),
            Column::moment("created_at"),
            Column::level("access_level", 10, 50).optional(),
            Column::word("status", ended).optional(),
            Column::decimal("coverage", 0.0, 100.0).optional(),
            Column::choice("color", |word| word.len() < 9).optional(),
            Column::row("original_id", "notes").optional().or_zero(),
        ],
        signed: Some("body"),
    };

    static EVENTS: Relation = Relation {
        name: "events",
        table: "events",
        scope: "project_id = $1",
        key: &["id"],
        columns: &[
            Column::doer("author_id", "action", |word| word == "joined"),
            Column::row("note_id", "notes").strict(),
        ],
        signed: None,
    };

    fn ended(word: &str) -> Option<&'static str> {
        match word {
            "success" => Some("success"),
            "running" => Some("canceled"),
            _ => None,
        }
    }

    fn row(change: (&str, Value)) -> serde_json::Map<String, Value> {
        let row = json!({
            "id": 7, "item_kind": "Issue", "item_id": 3, "body": "tea", "author_id": 1,
            "resolved_by_id": null, "internal": false, "created_at": "2024-02-03T04:05:06.000007Z",
        });
        let mut row = row.as_object().unwrap().clone();
        row.insert(change.0.to_owned(), change.1);
        row
    }

    #[test]
    fn a_row_names_what_it_is_about() {
        let mut named = Vec::new();
        first_pass(&NOTES, &row(("id", json!(7))), &mut named).unwrap();
        assert_eq!(named, [("issues", 3)]);
    }

    #[test]
    fn values_are_of_the_kind_of_their_columns() {
        for (change, problem) in [
            (("id", json!(0)), "notes: id is not an id"),
            (("body", json!("a tea")), ""),
            (("body", json!("a teapot")), "notes: body is too long"),
            (("body", json!("\0")), "notes: body has a character that texts cannot have"),
            (("body", json!(null)), "notes: body is missing"),
            (("body", json!({})), "notes: body is not a text"),
            (("item_kind", json!("Pot")), "notes: item_kind does not have a valid value"),
            (("item_id", json!(-1)), "notes: item_id is not an id"),
            (("item_id", json!(0)), "notes: item_id is not an id"),
            (("author_id", json!(0)), "notes: author_id is not an id"),
            (("resolved_by_id", json!(0)), "notes: resolved_by_id is not an id"),
            (("original_id", json!(0)), ""),
            (("original_id", json!(-1)), "notes: original_id is not an id"),
            (("internal", json!(1)), "notes: internal is neither true nor false"),
            (("created_at", json!("soon")), "notes: created_at is not a moment"),
            (("author_id", json!("ada")), "notes: author_id is not an id"),
            (("access_level", json!(30)), ""),
            (("access_level", json!(31)), "notes: access_level is not an access level"),
            (("access_level", json!(60)), "notes: access_level is not an access level"),
            (("status", json!("running")), ""),
            (("status", json!("tea")), "notes: status does not have a valid value"),
            (("coverage", json!(12.5)), ""),
            (("coverage", json!(100.5)), "notes: coverage is out of range"),
            (("coverage", json!("12")), "notes: coverage is not a number"),
            (("color", json!("red")), ""),
            (("color", json!("r\0d")), "notes: color does not have a valid value"),
        ] {
            let found = first_pass(&NOTES, &row(change.clone()), &mut Vec::new());
            let found = found.map_or_else(|flaw| flaw.to_string(), |()| String::new());
            assert_eq!(found, problem, "{change:?}");
        }
    }

    #[test]
    fn a_word_is_written_as_the_one_that_it_stands_for_and_decimals_as_their_digits() {
        let mut names = Names { home: 9, ..Names::default() };
        names.rows.insert(("issues", 3), 30);
        let mut running = row(("status", json!("running")));
        running.insert("coverage".to_owned(), json!(12.5));
        running.insert("original_id".to_owned(), json!(0));
        let cells = cells(&NOTES, &running, &names).unwrap().unwrap();
        assert_eq!(cells[9], Cell::Word("canceled".to_owned()));
        assert_eq!(cells[10], Cell::Decimal("12.5".to_owned()));
        assert_eq!(cells[12], Cell::Number(0));
    }

    #[test]
    fn what_follows_from_other_values_is_not_taken_from_the_archive() {
        static SPECS: Relation = Relation {
            name: "specs",
            table: "specs",
            scope: "project_id = $1",
            key: &["id"],
            columns: &[
                Column::line("body"),
                Column::derived("digest", |row| Some(format!("of {}", row.get("body")?.as_str()?))),
            ],
            signed: None,
        };
        let row = json!({ "id": 1, "body": "tea", "digest": "of coffee" });
        let cells = cells(&SPECS, row.as_object().unwrap(), &Names::default()).unwrap().unwrap();
        assert_eq!(cells[1], Cell::Word("of tea".to_owned()));
    }

    #[test]
    fn whoever_imports_stands_for_authors_without_an_account() {
        let mut names = Names { home: 9, importer: 2, ..Names::default() };
        names.rows.insert(("issues", 3), 30);
        let known = cells(&NOTES, &row(("resolved_by_id", json!(5))), &names).unwrap().unwrap();
        assert_eq!(known[2], Cell::Number(30));
        assert_eq!(known[4], Cell::Number(2));
        assert_eq!(known[5], Cell::Null);
        assert_eq!(known[7], Cell::Number(1_706_933_106_000_007));
        names.rows.clear();
        assert_eq!(cells(&NOTES, &row(("id", json!(7))), &names).unwrap(), None);
    }

    #[test]
    fn a_row_has_one_of_two_values_that_exclude_one_another() {
        static RULES: Relation = Relation {
            name: "rules",
            table: "rules",
            scope: "project_id = $1",
            key: &["id"],
            columns: &[
                Column::level("access_level", 10, 50).optional(),
                Column::person("user_id").alternative_to("access_level"),
            ],
            signed: None,
        };
        let mut names = Names { importer: 2, ..Names::default() };
        names.people = [(5, 50)].into_iter().collect::<HashMap<i64, i64>>().into();
        for (level, user, found) in [
            (json!(30), Value::Null, Ok(Some(vec![Cell::Number(30), Cell::Null]))),
            (Value::Null, json!(5), Ok(Some(vec![Cell::Null, Cell::Number(50)]))),
            (Value::Null, json!(6), Ok(None)),
            (json!(30), json!(5), Err("rules: user_id excludes another value of the row")),
            (Value::Null, Value::Null, Err("rules: user_id is missing")),
        ] {
            let row = json!({ "id": 1, "access_level": level, "user_id": user });
            let cells = cells(&RULES, row.as_object().unwrap(), &names);
            assert_eq!(cells.map_err(|flaw| flaw.to_string()), found.map_err(str::to_owned));
        }
    }

    #[test]
    fn whoever_imports_stands_for_somebody_who_is_nowhere_known() {
        static RULES: Relation = Relation {
            name: "rules",
            table: "rules",
            scope: "project_id = $1",
            key: &["id"],
            columns: &[
                Column::level("access_level", 10, 50).optional(),
                Column::doer("user_id", "kind", |kind| kind == "push")
                    .alternative_to("access_level")
                    .or_zero(),
            ],
            signed: None,
        };
        let names = Names { importer: 2, ..Names::default() };
        for (kind, user, found) in [
            ("unprotect", 0, Ok(Some(vec![Cell::Null, Cell::Number(2)]))),
            ("push", 0, Ok(None)),
            ("unprotect", -1, Err("rules: user_id is not an id")),
        ] {
            let row = json!({ "id": 1, "kind": kind, "user_id": user });
            let cells = cells(&RULES, row.as_object().unwrap(), &names);
            assert_eq!(cells.map_err(|flaw| flaw.to_string()), found.map_err(str::to_owned));
        }
    }

    #[test]
    fn nobody_joins_for_somebody_else_and_rows_about_what_is_not_there_are_left_out() {
        let names = Names { importer: 2, ..Names::default() };
        let cells = |event: Value| cells(&EVENTS, event.as_object().unwrap(), &names).unwrap();
        let wrote = json!({ "id": 1, "action": "wrote", "author_id": 5, "note_id": null });
        assert_eq!(cells(wrote), Some(vec![Cell::Number(2), Cell::Null]));
        let joined = json!({ "id": 1, "action": "joined", "author_id": 5 });
        assert_eq!(cells(joined), None);
        let about = json!({ "id": 1, "action": "wrote", "author_id": 5, "note_id": 7 });
        assert_eq!(cells(about), None);
    }
}
