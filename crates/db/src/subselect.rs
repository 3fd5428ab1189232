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

/// The text of a [`Subselect`]. It names the tables of the statement around it.
pub trait SubselectText: 'static {
    /// What comes of it: one value, or none.
    type Kind: TypedExpressionType;
    const SQL: &'static str;
}

/// Declares the text of a [`Subselect`] as a type.
#[macro_export]
macro_rules! subselect {
    ($(#[$doc:meta])* $vis:vis struct $name:ident -> $kind:ty = $sql:expr;) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        impl $crate::SubselectText for $name {
            type Kind = $kind;
            const SQL: &'static str = $sql;
        }
    };
}

/// One value, or none. The text is a part of the type: so the statement around it is known by its type alone, and is
/// neither written nor compared each time it runs.
#[derive(Clone, Copy, Debug)]
pub struct Subselect<T> {
    value: i64,
    text: PhantomData<T>,
}

impl<T: SubselectText> Subselect<T> {
    pub const fn new() -> Self {
        Self::about(0)
    }

    /// Each `$` of the text stands for this number.
    pub const fn about(value: i64) -> Self {
        Self { value, text: PhantomData }
    }
}

impl<T: SubselectText> Default for Subselect<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: SubselectText> Expression for Subselect<T> {
    type SqlType = T::Kind;
}

impl<T, QS> AppearsOnTable<QS> for Subselect<T> where Self: Expression {}
impl<T, QS> SelectableExpression<QS> for Subselect<T> where Self: Expression {}

impl<T, GB> ValidGrouping<GB> for Subselect<T> {
    type IsAggregate = is_aggregate::Never;
}

impl<T, DB> QueryFragment<DB> for Subselect<T>
where
    T: SubselectText,
    DB: Backend + HasSqlType<BigInt>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        for (number, part) in T::SQL.split('$').enumerate() {
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

impl<T: SubselectText> QueryId for Subselect<T> {
    type QueryId = Self;
    const HAS_STATIC_QUERY_ID: bool = true;
}
