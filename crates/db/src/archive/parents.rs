//! Rows that others belong to.

use std::collections::HashSet;

use kernel::Result;

use super::Relation;
use crate::{Tx, listing};

/// Those of some rows to which rows of a relation belong that meet a condition in SQL; `column` says to which one. `ids`
/// are as many as one page has.
///
/// # Errors
/// When the database cannot be read.
pub fn parents(
    tx: &mut Tx<'_>,
    relation: &Relation,
    column: &str,
    ids: &[i64],
    condition: &str,
) -> Result<HashSet<i64>> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let (table, list) = (relation.table, ids.iter().map(i64::to_string).collect::<Vec<_>>());
    let sql = format!(
        "SELECT DISTINCT {column} AS id FROM {table} WHERE {column} IN ({}) AND {condition}",
        list.join(", ")
    );
    Ok(listing::ids(tx, &sql, &[])?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use kernel::Error;

    use super::parents;
    use crate::{
        archive::{
            insert,
            samples::{LABELS, label},
        },
        testing::{rows, transaction},
    };

    #[test]
    fn rows_with_others_of_their_own_are_found_once() {
        transaction(|tx| {
            let user = rows::user(tx, "ada")?;
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, user, "tea")?.0;
            let other = rows::project(tx, group, user, "cup")?.0;
            insert(tx, &LABELS, &[label(project, "bug"), label(project, "ant")])?;
            let mut with = |ids: &[i64], condition: &str| {
                let found = parents(tx, &LABELS, "project_id", ids, condition)?;
                Ok::<_, Error>(found.into_iter().collect::<Vec<_>>())
            };

            assert_eq!(with(&[project, other], "TRUE")?, [project]);
            assert!(with(&[project], "name = 'pot'")?.is_empty());
            assert!(with(&[], "TRUE")?.is_empty());
            Ok(())
        });
    }
}
