//! Rows that are there already under the names of others.

use std::collections::HashMap;

use diesel::{
    prelude::QueryableByName,
    sql_types::{BigInt, Text},
};
use kernel::Result;

use super::{Field, Relation};
use crate::{
    Tx,
    listing::{Bind, rows},
};

#[derive(QueryableByName)]
struct NamedRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    name: String,
}

/// The ids of those of a project's or group's rows that meet a condition in SQL, by a text that no two of them share; `names`
/// are as many as one page has.
///
/// # Errors
/// When the database cannot be read.
pub fn named(
    tx: &mut Tx<'_>,
    relation: &Relation,
    column: &str,
    condition: &str,
    home: i64,
    names: &[String],
) -> Result<HashMap<String, i64>> {
    let owner = relation.columns.iter().find(|column| matches!(column.field, Field::Home));
    let Some(owner) = owner.filter(|_| !names.is_empty()) else { return Ok(HashMap::new()) };
    let (table, owner) = (relation.table, owner.name);
    let mut binds = vec![Bind::Number(home)];
    binds.extend(names.iter().cloned().map(Bind::Word));
    let places: Vec<String> = (2..=binds.len()).map(|place| format!("${place}")).collect();
    let sql = format!(
        "SELECT id, {column} AS name FROM {table} \
         WHERE {owner} = $1 AND {condition} AND {column} IN ({})",
        places.join(", ")
    );
    let found: Vec<NamedRow> = rows(tx, &sql, &binds)?;
    Ok(found.into_iter().map(|row| (row.name, row.id)).collect())
}

#[cfg(test)]
mod tests {
    use super::named;
    use crate::{
        archive::{
            insert,
            samples::{LABELS, label},
        },
        testing::{rows, transaction},
    };

    #[test]
    fn rows_of_one_project_are_found_by_their_names() {
        transaction(|tx| {
            let user = rows::user(tx, "ada")?;
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, user, "tea")?.0;
            let other = rows::project(tx, group, user, "cup")?.0;
            let made = insert(tx, &LABELS, &[label(project, "bug"), label(other, "ant")])?;

            let names = ["ant", "bug", "pot"].map(str::to_owned);
            let found = named(tx, &LABELS, "name", "TRUE", project, &names)?;

            assert_eq!(found.into_iter().collect::<Vec<_>>(), [("bug".to_owned(), made[0])]);
            assert!(named(tx, &LABELS, "name", "color = 'red'", project, &names)?.is_empty());
            assert!(named(tx, &LABELS, "name", "TRUE", project, &[])?.is_empty());
            Ok(())
        });
    }
}
