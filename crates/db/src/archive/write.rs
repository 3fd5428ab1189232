//! From values to rows.

use diesel::{
    RunQueryDsl as _,
    result::{DatabaseErrorKind, Error as Sql},
};
use kernel::{Error, Result};

use super::{Cell, Field, Relation};
use crate::{
    Tx, each_backend, error,
    listing::{Bind, ids},
    statement::Statement,
};

/// Values of one statement, below what both databases allow.
const VALUES_AT_ONCE: usize = 2000;

/// Writes rows, and returns their ids in the same order where they have one. Rows without an id that are there already
/// stay as they are.
///
/// # Errors
/// When a row contradicts another one, or the database cannot be written.
pub fn insert(tx: &mut Tx<'_>, relation: &Relation, rows: &[Vec<Cell>]) -> Result<Vec<i64>> {
    let mut made = Vec::with_capacity(rows.len());
    let columns: Vec<&str> = relation.columns.iter().map(|column| column.name).collect();
    for some in rows.chunks((VALUES_AT_ONCE / columns.len().max(1)).max(1)) {
        let mut binds = Vec::new();
        let values: Vec<String> = some.iter().map(|row| row_text(row, &mut binds)).collect();
        let (table, columns, values) = (relation.table, columns.join(", "), values.join(", "));
        let insert = format!("INSERT INTO {table} ({columns}) VALUES {values}");
        if relation.has_id() {
            let mut new = ids(tx, &format!("{insert} RETURNING id"), &binds)?;
            // Ids count up in the order of the values, which is not promised for what is returned.
            new.sort_unstable();
            made.extend(new);
        } else {
            run(tx, &format!("{insert} ON CONFLICT DO NOTHING"), &binds)?;
        }
    }
    Ok(made)
}

/// Removes all rows of a project or group, and none that it only shows.
///
/// # Errors
/// When the database cannot be written.
pub fn clear(tx: &mut Tx<'_>, relation: &Relation, home: i64) -> Result<()> {
    let own = relation.columns.iter().find(|column| matches!(column.field, Field::Home));
    let own = own.map(|column| format!("{} = $1", column.name));
    let scope = own.unwrap_or_else(|| relation.scope.to_owned());
    let delete = format!("DELETE FROM {} WHERE {scope}", relation.table);
    run(tx, &delete, &[Bind::Number(home)])
}

fn run(tx: &mut Tx<'_>, sql: &str, binds: &[Bind]) -> Result<()> {
    let statement = Statement::new(sql, binds);
    each_backend!(tx, |conn| statement.execute(conn).map_err(failure))?;
    Ok(())
}

/// A row that names none is the archive's fault.
fn failure(cause: Sql) -> Error {
    match cause {
        Sql::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => {
            Error::conflict().whole("Record names one that does not exist")
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
        })
        .collect();
    format!("({})", cells.join(", "))
}
