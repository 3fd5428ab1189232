//! Rows of a table that one domain describes to another.

use kernel::Result;

use crate::{
    Fragment, Tx,
    listing::{ids, value},
};

/// The rows of a table that fulfil a condition. Whoever gets one asks whether a row with an id is among them, without naming a
/// table or column of the domain that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSet {
    table: &'static str,
    /// What the condition calls a row.
    alias: &'static str,
    condition: Fragment,
}

impl RowSet {
    /// The condition has no values to bind.
    pub fn new(table: &'static str, alias: &'static str, condition: Fragment) -> Self {
        Self { table, alias, condition }
    }

    /// The rows whose column has this value.
    pub fn with(table: &'static str, alias: &'static str, column: &str, is: i64) -> Self {
        let condition = Fragment::new(format!("{alias}.{column} = {}", value(is)));
        Self::new(table, alias, condition)
    }

    /// Whether the row with the id in a column is one of them; the database may make a join of this.
    pub fn contains(&self, column: &str) -> Fragment {
        self.exists(column, "")
    }

    /// As [`contains`](Self::contains), worked out for each row: PostgreSQL chooses a bad join where it underestimates the
    /// number of rows that ask.
    pub fn contains_for_each(&self, column: &str) -> Fragment {
        self.exists(column, " LIMIT 1 OFFSET 0")
    }

    /// As [`contains`](Self::contains), after all of them were listed; for small tables.
    pub fn lists(&self, column: &str) -> Fragment {
        // `IS TRUE` keeps PostgreSQL from making a join of this.
        Fragment::new(format!("({column} IN ({})) IS TRUE", self.ids()))
    }

    /// `SELECT` of their ids.
    pub fn ids(&self) -> Fragment {
        let Self { table, alias, condition } = self;
        Fragment::new(format!("SELECT {alias}.id FROM {table} {alias} WHERE {condition}"))
    }

    /// `FROM` and the beginning of `WHERE` for the rows of another table that belong to them by a column, one after the other.
    pub fn each_with(&self, other: &str, column: &str) -> (String, String) {
        let Self { table, alias, condition } = self;
        let from = format!("{table} {alias} CROSS JOIN {other}");
        (from, format!("{condition} AND {column} = {alias}.id"))
    }

    /// The highest id of the table, in the set or not.
    pub fn highest_id(&self, tx: &mut Tx<'_>) -> Result<i64> {
        let sql = format!("SELECT COALESCE(MAX(id), 0) AS id FROM {}", self.table);
        Ok(ids(tx, &sql, &[])?.first().copied().unwrap_or_default())
    }

    fn exists(&self, column: &str, fence: &str) -> Fragment {
        let Self { table, alias, condition } = self;
        Fragment::new(format!(
            "EXISTS (SELECT 1 FROM {table} {alias} WHERE {alias}.id = {column} AND {condition}{fence})"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::RowSet;
    use crate::Fragment;

    #[test]
    fn an_id_is_looked_for_in_three_ways() {
        let open = RowSet::new("projects", "p", Fragment::new("NOT p.archived"));
        assert_eq!(
            open.contains("i.project_id").to_string(),
            "EXISTS (SELECT 1 FROM projects p WHERE p.id = i.project_id AND NOT p.archived)"
        );
        assert!(open.contains_for_each("i.project_id").to_string().ends_with(" LIMIT 1 OFFSET 0)"));
        assert_eq!(
            open.lists("i.project_id").to_string(),
            "(i.project_id IN (SELECT p.id FROM projects p WHERE NOT p.archived)) IS TRUE"
        );
    }

    #[test]
    fn rows_of_another_table_are_reached_from_the_set() {
        let of_group = RowSet::with("projects", "p", "namespace_id", 7);
        let (from, condition) = of_group.each_with("issues i", "i.project_id");
        assert_eq!(from, "projects p CROSS JOIN issues i");
        assert_eq!(condition, "p.namespace_id = $(7) AND i.project_id = p.id");
    }
}
