//! The tables of an SQLite database.

use anyhow::{Result, bail};
use diesel::{
    QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query,
    sql_types::{BigInt, Bool, Nullable, Text},
};

use super::model::{Column, Index, RECORD, Reference, Table};

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

#[derive(QueryableByName)]
struct ColumnRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    declared: String,
    #[diesel(sql_type = Bool)]
    required: bool,
    #[diesel(sql_type = BigInt)]
    key: i64,
}

#[derive(QueryableByName)]
struct ReferenceRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    target: String,
    #[diesel(sql_type = Text)]
    origin: String,
    #[diesel(sql_type = Text)]
    on_delete: String,
}

#[derive(QueryableByName)]
struct IndexRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Bool)]
    uniqueness: bool,
    #[diesel(sql_type = Nullable<Text>)]
    column: Option<String>,
}

pub(super) fn tables(connection: &mut SqliteConnection) -> Result<Vec<Table>> {
    let query = "SELECT name FROM pragma_table_list \
                 WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let names: Vec<Name> = sql_query(query).load(connection)?;
    names
        .into_iter()
        .filter(|table| table.name != RECORD)
        .map(|table| read(connection, table.name))
        .collect()
}

fn read(connection: &mut SqliteConnection, name: String) -> Result<Table> {
    let rows: Vec<ColumnRow> =
        sql_query("SELECT name, type AS declared, \"notnull\" AS required, pk AS key FROM pragma_table_info(?) ORDER BY cid")
            .bind::<Text, _>(&name)
            .load(connection)?;
    let mut keyed = rows.iter().filter(|row| row.key > 0).collect::<Vec<_>>();
    keyed.sort_by_key(|row| row.key);
    let key = keyed.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    let columns = rows.iter().map(|row| column(row, &key)).collect::<Result<_>>()?;
    let references = references(connection, &name)?;
    let indexes = indexes(connection, &name)?;
    Ok(Table { name, key, columns, references, indexes })
}

fn column(row: &ColumnRow, key: &[String]) -> Result<Column> {
    let sql_type = match row.declared.to_ascii_uppercase().as_str() {
        // The only spelling that SQLite takes for its row id.
        "INTEGER" if key == [row.name.clone()] => "BigInt",
        "BIGINT" => "BigInt",
        "INTEGER" => "Integer",
        "SMALLINT" => "SmallInt",
        "BOOLEAN" => "Bool",
        "TEXT" => "Text",
        "BLOB" => "Binary",
        "DOUBLE" | "DOUBLE PRECISION" => "Double",
        other => bail!("column {}: no rule for the SQLite type {other:?}", row.name),
    };
    Ok(Column { name: row.name.clone(), sql_type, nullable: !row.required && row.key == 0 })
}

fn references(connection: &mut SqliteConnection, name: &str) -> Result<Vec<Reference>> {
    let rows: Vec<ReferenceRow> = sql_query(
        "SELECT id, \"table\" AS target, \"from\" AS origin, on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq",
    )
    .bind::<Text, _>(name)
    .load(connection)?;
    let mut found: Vec<(i64, Reference)> = Vec::new();
    for row in rows {
        match found.last_mut() {
            Some((id, reference)) if *id == row.id => reference.columns.push(row.origin),
            _ => {
                let on_delete = row.on_delete.to_ascii_uppercase();
                found.push((
                    row.id,
                    Reference { columns: vec![row.origin], table: row.target, on_delete },
                ));
            }
        }
    }
    let mut references = found.into_iter().map(|(_, reference)| reference).collect::<Vec<_>>();
    references.sort();
    Ok(references)
}

fn indexes(connection: &mut SqliteConnection, name: &str) -> Result<Vec<Index>> {
    let rows: Vec<IndexRow> = sql_query(
        "SELECT list.name AS name, list.\"unique\" AS uniqueness, info.name AS \"column\" \
         FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info \
         WHERE list.origin = 'c' ORDER BY list.name, info.seqno",
    )
    .bind::<Text, _>(name)
    .load(connection)?;
    let mut indexes: Vec<Index> = Vec::new();
    for row in rows {
        let column = row.column.unwrap_or_else(|| "(expression)".to_owned());
        match indexes.last_mut() {
            Some(index) if index.name == row.name => index.columns.push(column),
            _ => indexes.push(Index {
                name: row.name,
                unique: row.uniqueness,
                columns: vec![column],
            }),
        }
    }
    Ok(indexes)
}
