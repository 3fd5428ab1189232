//! Texts without regard to case, the same on both databases: small letters of every script, compared by their bytes.
//!
//! SQLite's own function is replaced by one that knows every script. On PostgreSQL columns are compared by their bytes, and
//! so is what `lower` would do to them: only ASCII. The letters of other scripts are known to the database's own collation.

use diesel::{
    expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping},
    query_builder::{AstPass, QueryFragment, QueryId},
    result::QueryResult,
    sql_types::Text,
};

use crate::{AnyBackend, Conn, Tx};

/// What stands around a text for PostgreSQL.
const OPEN: &str = "(lower(";
const CLOSE: &str = " COLLATE \"default\") COLLATE \"C\")";

/// A text in small letters, as an expression of a query.
pub fn lower<E: Expression<SqlType = Text>>(text: E) -> LowerCase<E> {
    LowerCase(text)
}

#[derive(Clone, Copy, Debug, QueryId, ValidGrouping)]
pub struct LowerCase<E>(E);

impl<E: Expression> Expression for LowerCase<E> {
    type SqlType = Text;
}

impl<E, QS> AppearsOnTable<QS> for LowerCase<E>
where
    E: AppearsOnTable<QS>,
    Self: Expression,
{
}

impl<E, QS> SelectableExpression<QS> for LowerCase<E>
where
    E: SelectableExpression<QS>,
    Self: AppearsOnTable<QS>,
{
}

impl<E: QueryFragment<AnyBackend>> QueryFragment<AnyBackend> for LowerCase<E> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        let (open, close) = match *out.backend() {
            AnyBackend::Sqlite => ("lower(", ")"),
            AnyBackend::Postgres => (OPEN, CLOSE),
        };
        out.push_sql(open);
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(close);
        Ok(())
    }
}

impl Tx<'_> {
    /// A text in small letters, as SQL about it.
    pub fn folded(&self, text: &str) -> String {
        match self.conn {
            Conn::Sqlite(_) => format!("lower({text})"),
            Conn::Postgres(_) => format!("{OPEN}{text}{CLOSE}"),
        }
    }

    /// The order in which people read names, as SQL about them: without regard to case, then by bytes.
    pub fn reading_order(&self, text: &str, direction: &str) -> String {
        format!("{} {direction}, {text} {direction}", self.folded(text))
    }
}
