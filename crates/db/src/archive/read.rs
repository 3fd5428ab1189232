//! From rows to JSON.

use diesel::{prelude::QueryableByName, sql_types::Text};
use kernel::{Error, Result, Ts};
use serde_json::{Map, Value};
use time::macros::format_description;

use super::{Field, Relation};
use crate::{
    Conn, Tx,
    listing::{Bind, rows},
};

/// A row as archives hold it: values by the names of their columns, and its `id` where it has one.
pub type ArchiveRow = Map<String, Value>;

#[derive(QueryableByName)]
struct Body {
    #[diesel(sql_type = Text)]
    body: String,
}

/// The next rows after one, in the order of their keys.
///
/// # Errors
/// When the database cannot be read.
pub fn page(
    tx: &mut Tx<'_>,
    relation: &Relation,
    home: i64,
    after: Option<&ArchiveRow>,
    most: usize,
) -> Result<Vec<ArchiveRow>> {
    let mut binds = vec![Bind::Number(home)];
    let sql = statement(tx, relation, after, most, &mut binds);
    let found: Vec<Body> = rows(tx, &sql, &binds)?;
    found.iter().map(|row| decode(relation, &row.body)).collect()
}

fn statement(
    tx: &Tx<'_>,
    relation: &Relation,
    after: Option<&ArchiveRow>,
    most: usize,
    binds: &mut Vec<Bind>,
) -> String {
    let own_key = relation.has_id().then_some("id");
    let of_columns = relation.columns.iter().filter(|column| is_written(column.field));
    let names = own_key.into_iter().chain(of_columns.map(|column| column.name));
    let pairs: Vec<String> = names.map(|name| format!("'{name}', {name}")).collect();
    let body = match &tx.conn {
        Conn::Sqlite(_) => format!("json_object({})", pairs.join(", ")),
        Conn::Postgres(_) => format!("CAST(json_build_object({}) AS TEXT)", pairs.join(", ")),
    };
    let (table, scope, key) = (relation.table, relation.scope, relation.key.join(", "));
    let beyond = match after {
        Some(row) => {
            let places: Vec<String> = relation
                .key
                .iter()
                .map(|name| {
                    binds.push(bind(row.get(*name)));
                    format!("${}", binds.len())
                })
                .collect();
            format!(" AND ({key}) > ({})", places.join(", "))
        }
        None => String::new(),
    };
    format!("SELECT {body} AS body FROM {table} WHERE {scope}{beyond} ORDER BY {key} LIMIT {most}")
}

/// Whether archives hold such a column. The key of a row is written as its `id`.
fn is_written(field: Field) -> bool {
    !matches!(field, Field::Home | Field::Fixed(_) | Field::Derived(_) | Field::Itself(_))
}

fn bind(value: Option<&Value>) -> Bind {
    match value {
        Some(Value::String(word)) => Bind::Word(word.clone()),
        Some(value) => Bind::Number(value.as_i64().unwrap_or_default()),
        None => Bind::Number(0),
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

/// With all digits that are stored.
fn moment(at: i64) -> String {
    let form =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");
    Ts(at).datetime().format(form).unwrap_or_default()
}
