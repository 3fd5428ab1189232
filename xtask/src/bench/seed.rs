//! Many projects at once: one made through the API, then copied row by row inside the database.

use anyhow::{Context as _, Result};
use diesel::{
    QueryableByName, RunQueryDsl as _,
    connection::SimpleConnection as _,
    sql_query,
    sql_types::{BigInt, Nullable},
};

use crate::{
    migrate::Connection,
    schema::{self, Table},
};

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = Nullable<BigInt>)]
    number: Option<i64>,
}

/// Copies the project `template`; answers the first and the last id of the copies.
pub(super) fn projects(address: &str, template: i64, count: i64) -> Result<(i64, i64)> {
    let mut connection = Connection::open(address)?;
    let before = number(&mut connection, "SELECT max(id) AS number FROM projects")?
        .context("there is no project")?;
    let tables = schema::tables(&mut connection)?;
    let mut script = String::from("BEGIN;\n");
    let projects = tables
        .iter()
        .find(|table| table.name == "projects")
        .context("there is no table projects")?;
    script.push_str(&copies_of_project(projects, template, before, count));
    for table in
        tables.iter().filter(|table| table.columns.iter().any(|column| column.name == "project_id"))
    {
        script.push_str(&copies_of_rows(table, template, before));
    }
    script.push_str("COMMIT;\n");
    match &mut connection {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => {
            let next = "SELECT setval(pg_get_serial_sequence('projects', 'id'), (SELECT max(id) FROM projects));";
            connection.batch_execute(&format!("{script}{next}"))?;
            // What autovacuum does within a minute.
            connection.batch_execute("ANALYZE")?;
        }
    }
    Ok((before + 1, before + count))
}

/// Background work that was queued for the next moments, as after a push, and has not been done.
pub(super) fn waiting_work(address: &str) -> Result<i64> {
    let mut connection = Connection::open(address)?;
    let query = "SELECT count(*) AS number FROM work WHERE run_at <= created_at + 45000000";
    Ok(number(&mut connection, query)?.unwrap_or_default())
}

pub(super) fn number(connection: &mut Connection, query: &str) -> Result<Option<i64>> {
    let row: Number = match connection {
        Connection::Sqlite(connection) => sql_query(query).get_result(connection)?,
        Connection::Postgres(connection) => sql_query(query).get_result(connection)?,
    };
    Ok(row.number)
}

/// Rows copied from one, some columns of each with a value of its own.
pub(super) struct Copies<'a> {
    /// The value of the key column in the row that is copied.
    pub(super) source: i64,
    /// The row sources, as after `WITH RECURSIVE`.
    pub(super) with: String,
    /// Which of them gives one row for each copy.
    pub(super) rows: &'a str,
    /// A column's expression; `None` copies it from `t`.
    pub(super) value: &'a dyn Fn(&str) -> Option<String>,
}

impl Copies<'_> {
    pub(super) fn text(&self, table: &Table, key: &str) -> String {
        // An id of its own is given by the database, unless something is said of it.
        let given = |name: &&str| {
            *name != "id" || key == "id" || (self.value)("id").is_some() || table.key != ["id"]
        };
        let names = table.columns.iter().map(|column| column.name.as_str()).filter(given);
        let names = names.collect::<Vec<_>>();
        let values = names
            .iter()
            .map(|name| (self.value)(name).unwrap_or_else(|| format!("t.{name}")))
            .collect::<Vec<_>>();
        format!(
            "INSERT INTO {0} ({1}) WITH RECURSIVE {2} SELECT {3} FROM {0} t, {4} WHERE t.{key} = {5};\n",
            table.name,
            names.join(", "),
            self.with,
            values.join(", "),
            self.rows,
            self.source
        )
    }
}

fn copies_of_project(table: &Table, template: i64, before: i64, count: i64) -> String {
    let value = |column: &str| {
        Some(match column {
            "id" => format!("{before} + n.i"),
            "name" => "'Project ' || n.i".to_owned(),
            "path" => "'project-' || n.i".to_owned(),
            "full_path" | "path_key" => "'root/project-' || n.i".to_owned(),
            "full_name" => "t.full_name || ' ' || n.i".to_owned(),
            "description" => "'Sample number ' || n.i || ' of many'".to_owned(),
            "visibility" => {
                "CASE n.i % 3 WHEN 0 THEN 'public' WHEN 1 THEN 'internal' ELSE 'private' END"
                    .to_owned()
            }
            "created_at" | "updated_at" | "last_activity_at" => {
                format!("t.{column} - n.i * 1000000")
            }
            "default_branch" => "'main'".to_owned(),
            "readme_path" => "'README.md'".to_owned(),
            "star_count" => "n.i % 50".to_owned(),
            _ => return None,
        })
    };
    let with = format!(
        "n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    );
    Copies { source: template, with, rows: "n", value: &value }.text(table, "id")
}

pub(super) fn copies_of_rows(table: &Table, template: i64, before: i64) -> String {
    let own_id = table.key == ["id"];
    let names = table
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|name| !(own_id && *name == "id"));
    let names = names.collect::<Vec<_>>();
    let values = names
        .iter()
        .map(|name| match *name {
            "project_id" => "p.id".to_owned(),
            // The name of a repository, with the id of its project.
            "place" => {
                "REPLACE(t.place, CAST(t.project_id AS TEXT), CAST(p.id AS TEXT))".to_owned()
            }
            name => format!("t.{name}"),
        })
        .collect::<Vec<_>>();
    format!(
        "INSERT INTO {0} ({1}) SELECT {2} FROM {0} t, projects p WHERE t.project_id = {template} AND p.id > {before};\n",
        table.name,
        names.join(", "),
        values.join(", ")
    )
}
