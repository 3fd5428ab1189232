//! The tables of a PostgreSQL database.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use diesel::{
    PgConnection, QueryableByName, RunQueryDsl as _, sql_query,
    sql_types::{Array, Bool, Text},
};

use super::model::{Column, Index, RECORD, Reference, Table};

const COLUMNS: &str = "\
    SELECT c.table_name::text AS owner, c.column_name::text AS name, c.data_type::text AS declared, \
           c.is_nullable = 'YES' AS nullable \
    FROM information_schema.columns c \
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
    WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' \
    ORDER BY c.table_name COLLATE \"C\", c.ordinal_position";

const CONSTRAINTS: &str = "\
    SELECT con.conrelid::regclass::text AS owner, con.contype = 'p' AS is_key, \
           CASE WHEN con.contype = 'f' THEN con.confrelid::regclass::text ELSE '' END AS target, \
           CASE con.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' \
                WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS on_delete, \
           ARRAY(SELECT a.attname::text FROM unnest(con.conkey) WITH ORDINALITY AS k(number, place) \
                 JOIN pg_attribute a ON a.attrelid = con.conrelid AND a.attnum = k.number ORDER BY k.place) AS columns \
    FROM pg_constraint con \
    WHERE con.contype IN ('p', 'f') AND con.connamespace = 'public'::regnamespace";

const INDEXES: &str = "\
    SELECT i.indrelid::regclass::text AS owner, c.relname::text AS name, i.indisunique AS uniqueness, \
           ARRAY(SELECT COALESCE(a.attname::text, '(expression)') \
                 FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(number, place) \
                 LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number AND k.number > 0 \
                 ORDER BY k.place) AS columns \
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam \
    WHERE c.relnamespace = 'public'::regnamespace AND m.amname = 'btree' \
      AND NOT EXISTS (SELECT 1 FROM pg_constraint con WHERE con.conindid = i.indexrelid AND con.contype IN ('p', 'u', 'x')) \
    ORDER BY c.relname COLLATE \"C\"";

#[derive(QueryableByName)]
struct ColumnRow {
    #[diesel(sql_type = Text)]
    owner: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    declared: String,
    #[diesel(sql_type = Bool)]
    nullable: bool,
}

#[derive(QueryableByName)]
struct ConstraintRow {
    #[diesel(sql_type = Text)]
    owner: String,
    #[diesel(sql_type = Bool)]
    is_key: bool,
    #[diesel(sql_type = Text)]
    target: String,
    #[diesel(sql_type = Text)]
    on_delete: String,
    #[diesel(sql_type = Array<Text>)]
    columns: Vec<String>,
}

#[derive(QueryableByName)]
struct IndexRow {
    #[diesel(sql_type = Text)]
    owner: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Bool)]
    uniqueness: bool,
    #[diesel(sql_type = Array<Text>)]
    columns: Vec<String>,
}

pub(super) fn tables(connection: &mut PgConnection) -> Result<Vec<Table>> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    for row in sql_query(COLUMNS)
        .load::<ColumnRow>(connection)?
        .into_iter()
        .filter(|row| row.owner != RECORD)
    {
        let table = tables.entry(row.owner.clone()).or_insert_with(|| empty(&row.owner));
        table.columns.push(column(row)?);
    }
    for row in sql_query(CONSTRAINTS).load::<ConstraintRow>(connection)? {
        let Some(table) = tables.get_mut(&row.owner) else { continue };
        if row.is_key {
            table.key = row.columns;
        } else {
            table.references.push(Reference {
                columns: row.columns,
                table: row.target,
                on_delete: row.on_delete,
            });
        }
    }
    for row in sql_query(INDEXES).load::<IndexRow>(connection)? {
        let Some(table) = tables.get_mut(&row.owner) else { continue };
        table.indexes.push(Index { name: row.name, unique: row.uniqueness, columns: row.columns });
    }
    let mut tables = tables.into_values().collect::<Vec<_>>();
    tables.iter_mut().for_each(|table| table.references.sort());
    Ok(tables)
}

fn empty(name: &str) -> Table {
    Table {
        name: name.to_owned(),
        key: Vec::new(),
        columns: Vec::new(),
        references: Vec::new(),
        indexes: Vec::new(),
    }
}

fn column(row: ColumnRow) -> Result<Column> {
    let sql_type = match row.declared.as_str() {
        "bigint" => "BigInt",
        "integer" => "Integer",
        "smallint" => "SmallInt",
        "boolean" => "Bool",
        "text" => "Text",
        "bytea" => "Binary",
        "double precision" => "Double",
        other => {
            bail!("column {}.{}: no rule for the PostgreSQL type {other:?}", row.owner, row.name)
        }
    };
    Ok(Column { name: row.name, sql_type, nullable: row.nullable })
}
