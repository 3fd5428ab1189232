//! What one statement asks beside its own columns: a `SELECT` of one value, written as text by whoever owns the tables
//! that it reads. So a record of which two domains know something is read at once, and each keeps to its own tables.

use std::marker::PhantomData;

use diesel::{
    backend::Backend,
    expression::{
        AppearsOnTable, Expression, SelectableExpression, TypedExpressionType, ValidGrouping,
        is_aggregate,
    },
    query_builder::{AstPass, QueryFragment, QueryId},
    result::QueryResult,
    serialize::ToSql,
    sql_types::{BigInt, HasSqlType},
};

/// One value of this kind, or none. The text names the tables of the statement around it, and is the same for every
/// value, so that the statement is prepared once.
#[derive(Clone, Copy, Debug)]
pub struct Subselect<ST> {
    sql: &'static str,
    value: i64,
    kind: PhantomData<ST>,
}

impl<ST> Subselect<ST> {
    pub const fn new(sql: &'static str) -> Self {
        Self::about(sql, 0)
    }

    /// Each `$` stands for this number.
    pub const fn about(sql: &'static str, value: i64) -> Self {
        Self { sql, value, kind: PhantomData }
    }
}

impl<ST: TypedExpressionType> Expression for Subselect<ST> {
    type SqlType = ST;
}

impl<ST, QS> AppearsOnTable<QS> for Subselect<ST> where Self: Expression {}
impl<ST, QS> SelectableExpression<QS> for Subselect<ST> where Self: Expression {}

impl<ST, GB> ValidGrouping<GB> for Subselect<ST> {
    type IsAggregate = is_aggregate::Never;
}

impl<ST, DB> QueryFragment<DB> for Subselect<ST>
where
    DB: Backend + HasSqlType<BigInt>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        for (number, part) in self.sql.split('$').enumerate() {
            match number {
                0 => out.push_sql("("),
                _ => out.push_bind_param::<BigInt, i64>(&self.value)?,
            }
            out.push_sql(part);
        }
        out.push_sql(")");
        Ok(())
    }
}

impl<ST> QueryId for Subselect<ST> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
