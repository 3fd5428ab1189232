//! From rows to JSON.

use diesel::{prelude::QueryableByName, sql_types::Text};
use kernel::{Error, Result, Ts};
use serde_json::{Map, Value};
use time::macros::format_description;

use super::{Column, Field, Relation};
use crate::{
    Conn, Tx,
    listing::{Bind, rows},
};

/// A row as archives hold it: values by the names of their columns, and its `id` where it has one.
pub type ArchiveRow = Map<String, Value>;

/// The values of the columns that name a row.
pub(super) type RowKey = Vec<Value>;

#[derive(QueryableByName)]
struct PagePosition {
    #[diesel(sql_type = Text)]
    place: String,
}

#[derive(QueryableByName)]
struct PlacedBody {
    #[diesel(sql_type = Text)]
    place: String,
    #[diesel(sql_type = Text)]
    body: String,
}

/// The keys of the next rows after one, in their order.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn keys(
    tx: &mut Tx<'_>,
    relation: &Relation,
    home: i64,
    after: Option<&RowKey>,
    most: usize,
) -> Result<Vec<RowKey>> {
    let mut binds = vec![Bind::Number(home)];
    let (table, scope, key) = (relation.table, relation.scope, relation.key.join(", "));
    let beyond = match after {
        Some(last) => format!(" AND ({key}) > {}", values(last, &mut binds)),
        None => String::new(),
    };
    let place = json(tx, "array", &key);
    let sql = format!(
        "SELECT {place} AS place FROM {table} WHERE {scope}{beyond} ORDER BY {key} LIMIT {most}"
    );
    let found: Vec<PagePosition> = rows(tx, &sql, &binds)?;
    found.iter().map(|row| parse_key(&row.place)).collect()
}

/// Rows with these keys, in their order, each with its key. All of them but the last one have fewer characters than so
/// many; those for which there is no room are left out.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn rows_of(
    tx: &mut Tx<'_>,
    relation: &Relation,
    keys: &[RowKey],
    characters: usize,
) -> Result<Vec<(RowKey, ArchiveRow)>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut binds = Vec::new();
    let list: Vec<String> = keys.iter().map(|key| values(key, &mut binds)).collect();
    let list = list.join(", ");
    let list = if relation.key.len() == 1 { list } else { format!("VALUES {list}") };
    let own_key = relation.has_id().then_some("id");
    let of_columns = relation.columns.iter().filter(|column| is_written(column.field));
    let values = own_key.into_iter().map(|name| (name, name.to_owned()));
    let values = values.chain(of_columns.map(|column| (column.name, value(column))));
    let pairs: Vec<String> = values.map(|(name, value)| format!("'{name}', {value}")).collect();
    let body = json(tx, "object", &pairs.join(", "));
    let (table, key) = (relation.table, relation.key.join(", "));
    let place = json(tx, "array", &key);
    // The first row has none before it, so that there is always one.
    let sql = format!(
        "SELECT {place} AS place, page.body AS body FROM (SELECT body, {key}, \
         SUM(LENGTH(body)) OVER (ORDER BY {key}) - LENGTH(body) AS length_before \
         FROM (SELECT {body} AS body, {key} FROM {table} WHERE ({key}) IN ({list})) AS found\
         ) AS page WHERE page.length_before < {characters} ORDER BY {key}"
    );
    let found: Vec<PlacedBody> = rows(tx, &sql, &binds)?;
    found.iter().map(|row| Ok((parse_key(&row.place)?, decode(relation, &row.body)?))).collect()
}

/// The value of a column in SQL. JSON has no infinite numbers.
fn value(column: &Column) -> String {
    let name = column.reading.unwrap_or(column.name);
    match column.field {
        Field::Decimal(least, most) => format!(
            "CASE WHEN {name} > {most:e} THEN {most:e} WHEN {name} < {least:e} THEN {least:e} ELSE {name} END"
        ),
        _ => name.to_owned(),
    }
}

/// A JSON array or object of columns, as text.
fn json(tx: &Tx<'_>, kind: &str, columns: &str) -> String {
    match &tx.conn {
        Conn::Sqlite(_) => format!("json_{kind}({columns})"),
        Conn::Postgres(_) => format!("CAST(json_build_{kind}({columns}) AS TEXT)"),
    }
}

fn parse_key(text: &str) -> Result<RowKey> {
    serde_json::from_str(text).map_err(Error::internal)
}

/// The values of a key as a row of a statement.
fn values(key: &RowKey, binds: &mut Vec<Bind>) -> String {
    let place = |value: &Value| {
        binds.push(bind(value));
        format!("${}", binds.len())
    };
    format!("({})", key.iter().map(place).collect::<Vec<_>>().join(", "))
}

/// Whether archives hold such a column. The key of a row is written as its `id`.
fn is_written(field: Field) -> bool {
    !matches!(field, Field::Home | Field::Fixed(_) | Field::Derived(_) | Field::Itself(_))
}

fn bind(value: &Value) -> Bind {
    match value {
        Value::String(word) => Bind::Word(word.clone()),
        value => Bind::Number(value.as_i64().unwrap_or_default()),
    }
}

fn decode(relation: &Relation, body: &str) -> Result<ArchiveRow> {
    let mut row: ArchiveRow = serde_json::from_str(body).map_err(Error::internal)?;
    for column in relation.columns {
        let Some(value) = row.get_mut(column.name).filter(|value| !value.is_null()) else {
            continue;
        };
        match column.field {
            // One of the databases has no truth values.
            Field::Flag => {
                *value = Value::Bool(value.as_bool().unwrap_or(value.as_i64() == Some(1)))
            }
            Field::Moment => *value = Value::String(moment(value.as_i64().unwrap_or_default())),
            _ => {}
        }
    }
    Ok(row)
}

/// With all digits that are stored; of the years that can be read again.
fn moment(at: i64) -> String {
    let form =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");
    Ts(at).clamp(Ts::EARLIEST, Ts::LATEST).datetime().format(form).unwrap_or_default()
}
