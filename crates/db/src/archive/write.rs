//! From values to rows.

use diesel::{
    RunQueryDsl as _,
    result::{DatabaseErrorKind, Error as Sql},
};
use kernel::{Error, Result};

use super::{Cell, Field, Relation};
use crate::{
    Tx, each_backend, error,
    listing::{Bind, IdRow},
    statement::Statement,
};

/// Values of one statement, below what both databases allow.
const VALUES_AT_ONCE: usize = 2000;

/// Writes rows, and returns their ids in the same order where they have one of their own. Rows without an id that are
/// there already stay as they are; an addition changes rows that are there.
///
/// # Errors
/// When a row contradicts another one, or the database cannot be written.
pub fn insert(tx: &mut Tx<'_>, relation: &Relation, rows: &[Vec<Cell>]) -> Result<Vec<i64>> {
    let mut made = Vec::with_capacity(rows.len());
    let columns: Vec<&str> = relation.columns.iter().map(|column| column.name).collect();
    for some in rows.chunks((VALUES_AT_ONCE / columns.len().max(1)).max(1)) {
        let mut binds = Vec::new();
        let values: Vec<String> = some.iter().map(|row| row_text(row, &mut binds)).collect();
        if relation.is_addition() {
            run(tx, relation, &update_text(relation, &values.join(", ")), &binds)?;
            continue;
        }
        let (table, columns, values) = (relation.table, columns.join(", "), values.join(", "));
        let insert = format!("INSERT INTO {table} ({columns}) VALUES {values}");
        if relation.has_id() {
            let mut new = run_for_ids(tx, relation, &format!("{insert} RETURNING id"), &binds)?;
            // Ids count up in the order of the values, which is not promised for what is returned.
            new.sort_unstable();
            made.extend(new);
        } else {
            run(tx, relation, &format!("{insert} ON CONFLICT DO NOTHING"), &binds)?;
        }
    }
    Ok(made)
}

/// Removes all rows of a project or group, and none that it only shows.
///
/// # Errors
/// When the database cannot be written.
pub fn clear(tx: &mut Tx<'_>, relation: &Relation, home: i64) -> Result<()> {
    // Its rows go with the relation that has them.
    if relation.is_addition() {
        return Ok(());
    }
    let own = relation.columns.iter().find(|column| matches!(column.field, Field::Home));
    let own = own.map(|column| format!("{} = $1", column.name));
    let scope = own.unwrap_or_else(|| relation.scope.to_owned());
    let delete = format!("DELETE FROM {} WHERE {scope}", relation.table);
    run(tx, relation, &delete, &[Bind::Number(home)])
}

/// Removes the rows with these ids, which are as many as one page has.
///
/// # Errors
/// When the database cannot be written.
pub fn remove(tx: &mut Tx<'_>, relation: &Relation, ids: &[i64]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = ids.iter().map(i64::to_string).collect();
    let delete = format!("DELETE FROM {} WHERE id IN ({})", relation.table, list.join(", "));
    run(tx, relation, &delete, &[])
}

/// Both databases call the columns of a list of values `column1`, `column2` and so on.
fn update_text(relation: &Relation, values: &str) -> String {
    let table = relation.table;
    let (mut changes, mut key) = (Vec::new(), String::new());
    for (number, column) in (1..).zip(relation.columns) {
        match column.field {
            Field::Itself(_) => key = format!("{table}.id = added.column{number}"),
            _ => changes.push(format!("{} = added.column{number}", column.name)),
        }
    }
    let changes = changes.join(", ");
    format!("UPDATE {table} SET {changes} FROM (VALUES {values}) AS added WHERE {key}")
}

fn run(tx: &mut Tx<'_>, relation: &Relation, sql: &str, binds: &[Bind]) -> Result<()> {
    let statement = Statement::new(sql, binds);
    each_backend!(tx, |conn| statement.execute(conn).map_err(failure(relation)))?;
    Ok(())
}

fn run_for_ids(
    tx: &mut Tx<'_>,
    relation: &Relation,
    sql: &str,
    binds: &[Bind],
) -> Result<Vec<i64>> {
    let statement = Statement::new(sql, binds);
    let new: Vec<IdRow> =
        each_backend!(tx, |conn| statement.load(conn).map_err(failure(relation)))?;
    Ok(new.into_iter().map(|row| row.id).collect())
}

/// Rows that contradict others are the archive's fault.
fn failure(relation: &Relation) -> impl Fn(Sql) -> Error {
    let name = relation.name;
    move |cause| match cause {
        Sql::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => {
            Error::conflict().whole(format!("a row of {name} names one that does not exist"))
        }
        Sql::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => {
            Error::conflict().whole(format!("a row of {name} is there already"))
        }
        cause => error("Record")(cause),
    }
}

fn row_text(row: &[Cell], binds: &mut Vec<Bind>) -> String {
    let mut place = |bind| {
        binds.push(bind);
        format!("${}", binds.len())
    };
    let cells: Vec<String> = row
        .iter()
        .map(|cell| match cell {
            Cell::Null => "NULL".to_owned(),
            Cell::Flag(true) => "TRUE".to_owned(),
            Cell::Flag(false) => "FALSE".to_owned(),
            Cell::Fixed(sql) => (*sql).to_owned(),
            Cell::Number(number) => place(Bind::Number(*number)),
            Cell::Word(word) => place(Bind::Word(word.clone())),
            Cell::Decimal(text) => {
                format!("CAST({} AS DOUBLE PRECISION)", place(Bind::Word(text.clone())))
            }
        })
        .collect();
    format!("({})", cells.join(", "))
}

#[cfg(test)]
mod tests {
    use kernel::error::Kind;

    use super::{Cell, Relation, insert};
    use crate::{
        archive::{
            Column, RowPages,
            samples::{LABELS, label},
        },
        testing::{TestDatabase, rows, transaction},
    };

    const TOPICS: Relation = Relation {
        name: "topics",
        table: "project_topics",
        scope: "project_id = $1",
        key: &["topic_id"],
        columns: &[Column::home("project_id"), Column::row("topic_id", "topics")],
        signed: None,
    };
    const NAMES: Relation = Relation {
        name: "label_names",
        columns: &[Column::itself("labels"), Column::line("name")],
        ..LABELS
    };

    #[test]
    fn an_addition_changes_rows_that_are_there_and_makes_none() {
        transaction(|tx| {
            let user = rows::user(tx, "ada")?;
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, user, "tools/tea")?.0;
            let word = |text: &str| Cell::Word(text.to_owned());
            let labels = ["bug", "tea", "cup"].map(|name| label(project, name));
            let ids = insert(tx, &LABELS, &labels)?;
            let added = |pairs: &[(usize, &str)]| -> Vec<Vec<Cell>> {
                pairs.iter().map(|(row, name)| vec![Cell::Number(ids[*row]), word(name)]).collect()
            };
            assert!(insert(tx, &NAMES, &added(&[(2, "pot"), (0, "ant")]))?.is_empty());
            let names = RowPages::new(&LABELS, project).read(tx, 9)?;
            let names: Vec<_> = names.iter().map(|row| row["name"].clone()).collect();
            assert_eq!(names, ["ant", "tea", "pot"]);
            Ok(())
        });
    }

    /// Nothing of the kind passes by itself, so nobody is to try again.
    #[test]
    fn a_row_that_names_none_is_the_fault_of_whoever_wrote_it() {
        for has_id in [true, false] {
            let refused = TestDatabase::new().db.write_blocking(move |tx| {
                let user = rows::user(tx, "ada")?;
                let group = rows::group(tx, "tools")?;
                let project = rows::project(tx, group, user, "tools/tea")?.0;
                let made = match has_id {
                    true => insert(tx, &LABELS, &[label(project + 1, "bug")]),
                    false => insert(tx, &TOPICS, &[vec![Cell::Number(project), Cell::Number(99)]]),
                };
                made.map(drop)
            });
            let refused = refused.unwrap_err();
            assert_eq!(refused.kind, Kind::Conflict, "{refused}");
            assert!(!refused.is_ours(), "{refused}");
            let name = if has_id { "labels" } else { "topics" };
            assert_eq!(
                refused.to_string(),
                format!("a row of {name} names one that does not exist")
            );
        }
    }
}
