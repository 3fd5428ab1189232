//! Walking through the rows of a relation.

use std::sync::Arc;

use kernel::Result;
use serde_json::Value;

use super::{
    ArchiveRow, Flaw, Relation,
    adjustment::importable,
    read::{RowKey, keys, rows_of},
};
use crate::Tx;

/// Keys that are gathered at once. Where no index has the order of the rows, all rows are put in order for them, so they are
/// gathered for many pages.
const KEYS_AT_ONCE: usize = 20_000;
/// Characters of the rows of one page, but for the last row of it: texts may be of megabytes.
const LONGEST_PAGE: usize = 8 << 20;
/// Rows of one relation that are named although they are left out.
const MOST_LEFT_OUT: usize = 100;

/// A row that no import takes.
#[derive(Clone, Debug)]
pub struct Omission {
    /// Nothing where the row has none.
    pub id: Option<i64>,
    pub flaw: Flaw,
}

/// The rows of a project or group in a relation, page by page, in the order of their keys. Rows may change between two
/// pages; those that are gone by then are left out, and so are those that no import takes.
#[derive(Clone, Debug)]
pub struct RowPages {
    relation: &'static Relation,
    home: i64,
    keys: Arc<[RowKey]>,
    /// How many of the keys are done.
    done: usize,
    left_out: Vec<Omission>,
    limits: PageLimits,
}

#[derive(Clone, Copy, Debug)]
struct PageLimits {
    keys_at_once: usize,
    /// All rows but the last one have fewer.
    characters: usize,
}

impl RowPages {
    pub fn new(relation: &'static Relation, home: i64) -> Self {
        let limits = PageLimits { keys_at_once: KEYS_AT_ONCE, characters: LONGEST_PAGE };
        Self { relation, home, keys: Arc::default(), done: 0, left_out: Vec::new(), limits }
    }

    /// The rows until now that no import takes, at most 100.
    pub fn left_out(&self) -> &[Omission] {
        &self.left_out
    }

    /// The next page; nothing at the end. It has `most` rows at most, and fewer where they are long, so that a page takes
    /// little memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read(&mut self, tx: &mut Tx<'_>, most: usize) -> Result<Vec<ArchiveRow>> {
        loop {
            if self.done == self.keys.len() {
                let next =
                    keys(tx, self.relation, self.home, self.keys.last(), self.limits.keys_at_once)?;
                if next.is_empty() {
                    return Ok(Vec::new());
                }
                (self.keys, self.done) = (next.into(), 0);
            }
            let left = self.keys.get(self.done..).unwrap_or_default();
            let asked = left.get(..most.max(1)).unwrap_or(left);
            let found = rows_of(tx, self.relation, asked, self.limits.characters)?;
            let last = found.last().and_then(|(last, _)| asked.iter().position(|key| key == last));
            self.done += last.map_or(asked.len(), |place| place + 1);
            let found = found.into_iter().filter_map(|(_, row)| self.taken(row));
            let found: Vec<ArchiveRow> = found.collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }

    /// A row as imports take it. One that no import takes is noted.
    fn taken(&mut self, row: ArchiveRow) -> Option<ArchiveRow> {
        let id = row.get("id").and_then(Value::as_i64);
        match importable(self.relation, row) {
            Ok(row) => Some(row),
            Err(flaw) => {
                tracing::warn!(%flaw, "a row that no import takes is left out of an archive");
                if self.left_out.len() < MOST_LEFT_OUT {
                    self.left_out.push(Omission { id, flaw });
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Result;
    use serde_json::{Value, json};

    use super::{PageLimits, RowPages};
    use crate::{
        Tx,
        archive::{
            Column, Relation, clear, insert,
            samples::{LABELS, label},
        },
        testing::{TestDatabase, rows, transaction},
    };

    /// With a key that rows do not hold all of.
    static BY_NAME: Relation = Relation { key: &["project_id", "name"], ..LABELS };

    /// With another name for some.
    static RENAMED: Relation = Relation {
        columns: &[
            Column::home("project_id"),
            Column::line("name").read_as("CASE WHEN color = '#ff0000' THEN 'red' ELSE name END"),
        ],
        ..LABELS
    };

    fn labelled_project(tx: &mut Tx<'_>, names: &[&str]) -> Result<i64> {
        let user = rows::user(tx, "ada")?;
        let group = rows::group(tx, "tools")?;
        let project = rows::project(tx, group, user, "tools/tea")?.0;
        for name in names {
            insert(tx, &LABELS, &[label(project, name)])?;
        }
        Ok(project)
    }

    fn page(tx: &mut Tx<'_>, pages: &mut RowPages, most: usize) -> Result<Value> {
        Ok(pages.read(tx, most)?.iter().map(|row| row["name"].clone()).collect())
    }

    /// The names of rows, page by page.
    fn names(
        tx: &mut Tx<'_>,
        relation: &'static Relation,
        project: i64,
        (most, limits): (usize, PageLimits),
    ) -> Result<Value> {
        let mut pages = RowPages { limits, ..RowPages::new(relation, project) };
        (0..4).map(|_| page(tx, &mut pages, most)).collect()
    }

    #[test]
    fn pages_are_walked_whatever_their_rows_and_keys_are() {
        transaction(|tx| {
            let project = labelled_project(tx, &["bug", "tea", "cup"])?;
            let mut pages = |relation, most, (keys_at_once, characters)| {
                names(tx, relation, project, (most, PageLimits { keys_at_once, characters }))
            };
            let single = json!([["bug"], ["tea"], ["cup"], []]);
            assert_eq!(pages(&LABELS, 9, (99, 1))?, single, "long rows");
            assert_eq!(pages(&LABELS, 9, (1, 9999))?, single, "keys of one page at a time");
            assert_eq!(pages(&LABELS, 1, (2, 9999))?, single);
            assert_eq!(pages(&LABELS, 9, (99, 100))?, json!([["bug", "tea"], ["cup"], [], []]));
            assert_eq!(pages(&LABELS, 9, (99, 9999))?, json!([["bug", "tea", "cup"], [], [], []]));
            assert_eq!(pages(&BY_NAME, 2, (99, 9999))?, json!([["bug", "cup"], ["tea"], [], []]));
            assert_eq!(pages(&RENAMED, 9, (99, 9999))?, json!([["red", "red", "red"], [], [], []]));
            assert_eq!(pages(&BY_NAME, 1, (2, 9999))?, json!([["bug"], ["cup"], ["tea"], []]));
            Ok(())
        });
    }

    #[test]
    fn rows_that_are_gone_when_their_page_comes_are_left_out() {
        transaction(|tx| {
            let project = labelled_project(tx, &["bug", "tea"])?;
            let mut pages = RowPages::new(&LABELS, project);
            assert_eq!(page(tx, &mut pages, 1)?, json!(["bug"]));
            clear(tx, &LABELS, project)?;
            assert_eq!(page(tx, &mut pages, 1)?, json!([]));
            Ok(())
        });
    }

    /// Without statistics SQLite puts the labels of a project in order for each statement.
    #[test]
    fn rows_are_put_in_order_once_for_many_pages() {
        let database = TestDatabase::new();
        let project =
            database.db.write_blocking(|tx| labelled_project(tx, &["bug", "tea", "cup"])).unwrap();
        database.statements();
        database
            .db
            .write_blocking(move |tx| {
                let mut pages = RowPages::new(&LABELS, project);
                while !pages.read(tx, 1)?.is_empty() {}
                Ok(())
            })
            .unwrap();
        let asked = database.statements();
        let of_project = |sql: &&String| sql.contains("project_id = ");
        // The second time there are no more.
        assert!(asked.iter().filter(of_project).count() <= 2, "{asked:?}");
    }
}
