//! Differences between the tables of two databases, as text.

use std::{collections::BTreeMap, fmt::Debug};

use super::model::{Index, Table};

/// Columns that an index has on SQLite alone, where a partial index without the column of its condition makes it read each row.
/// PostgreSQL does not, and refuses rows whose indexed texts are long.
const ON_SQLITE_ALONE: &[(&str, &str)] = &[("pipelines_broken", "yaml_errors")];

pub(super) fn differences(sqlite: &[Table], postgres: &[Table]) -> Vec<String> {
    let (left, right) = (by_name(sqlite), by_name(postgres));
    let mut found = only_in_one("table", &left, &right);
    for (name, table) in &left {
        if let Some(other) = right.get(name) {
            found.extend(of_table(table, other));
        }
    }
    found
}

fn of_table(sqlite: &Table, postgres: &Table) -> Vec<String> {
    let name = &sqlite.name;
    let mut found = Vec::new();
    let columns = |table: &Table| {
        table
            .columns
            .iter()
            .map(|c| (format!("{}.{}", table.name, c.name), c.type_text()))
            .collect::<BTreeMap<_, _>>()
    };
    let (left, right) = (columns(sqlite), columns(postgres));
    found.extend(only_in_one("column", &left, &right));
    for (column, sql_type) in &left {
        if let Some(other) = right.get(column) {
            found.extend(unequal(column, sql_type, other));
        }
    }
    found.extend(unequal(&format!("{name}: primary key"), &sqlite.key, &postgres.key));
    found.extend(unequal(
        &format!("{name}: foreign keys"),
        &sqlite.references,
        &postgres.references,
    ));
    let indexes = shared_columns(&sqlite.indexes);
    found.extend(unequal(&format!("{name}: indexes"), &indexes, &postgres.indexes));
    found
}

/// The indexes as PostgreSQL should have them.
fn shared_columns(indexes: &[Index]) -> Vec<Index> {
    let shared = |index: &Index| {
        let mut index = index.clone();
        let name = index.name.clone();
        index.columns.retain(|column| !ON_SQLITE_ALONE.contains(&(name.as_str(), column.as_str())));
        index
    };
    indexes.iter().map(shared).collect()
}

fn by_name(tables: &[Table]) -> BTreeMap<String, &Table> {
    tables.iter().map(|table| (table.name.clone(), table)).collect()
}

fn only_in_one<V>(
    kind: &str,
    sqlite: &BTreeMap<String, V>,
    postgres: &BTreeMap<String, V>,
) -> Vec<String> {
    let missing = |from: &BTreeMap<String, V>, to: &BTreeMap<String, V>, home: &str| {
        let names = from.keys().filter(|name| !to.contains_key(*name));
        names.map(|name| format!("{kind} {name} exists on {home} only")).collect::<Vec<_>>()
    };
    [missing(sqlite, postgres, "SQLite"), missing(postgres, sqlite, "PostgreSQL")].concat()
}

fn unequal<T: PartialEq + Debug>(what: &str, sqlite: &T, postgres: &T) -> Option<String> {
    (sqlite != postgres).then(|| format!("{what}: SQLite {sqlite:?}, PostgreSQL {postgres:?}"))
}

#[cfg(test)]
mod tests {
    use super::{super::model::Column, *};

    fn table(name: &str, columns: &[(&str, &'static str, bool)]) -> Table {
        let columns = columns.iter().map(|(name, sql_type, nullable)| Column {
            name: (*name).to_owned(),
            sql_type,
            nullable: *nullable,
        });
        let key = vec!["id".to_owned()];
        Table {
            name: name.to_owned(),
            key,
            columns: columns.collect(),
            references: vec![],
            indexes: vec![],
        }
    }

    #[test]
    fn the_order_of_columns_is_no_difference() {
        let left = [table("jobs", &[("id", "BigInt", false), ("name", "Text", false)])];
        let right = [table("jobs", &[("name", "Text", false), ("id", "BigInt", false)])];

        assert_eq!(differences(&left, &right), Vec::<String>::new());
    }

    #[test]
    fn a_type_a_null_and_a_missing_table_are_told() {
        let left = [table("jobs", &[("id", "BigInt", false), ("at", "BigInt", true)])];
        let right = [
            table("jobs", &[("id", "Integer", false), ("at", "BigInt", false)]),
            table("tags", &[]),
        ];

        let found = differences(&left, &right).join("\n");

        assert!(found.contains("jobs.id: SQLite \"BigInt\", PostgreSQL \"Integer\""), "{found}");
        assert!(
            found.contains("jobs.at: SQLite \"Nullable<BigInt>\", PostgreSQL \"BigInt\""),
            "{found}"
        );
        assert!(found.contains("table tags exists on PostgreSQL only"), "{found}");
    }
}
