//! `IN` with a list of values, in a form that a connection can keep prepared.

use diesel::{
    backend::Backend,
    dsl::Eq,
    expression::{AppearsOnTable, AsExpression, Expression, SelectableExpression, ValidGrouping},
    pg::Pg,
    query_builder::{AstPass, QueryFragment, QueryId},
    result::QueryResult,
    serialize::ToSql,
    sql_types::{Array, HasSqlType, SqlType},
};

use crate::AnyBackend;

/// Lists are filled up to one of these lengths, so that a few statements are prepared and planned for all of them. The
/// third is the usual page, the last the longest.
const LENGTHS: [usize; 4] = [1, 5, 20, 100];

/// `column IN (values)`; false where there are no values.
///
/// `eq_any` of Diesel is parsed and planned each time on SQLite, which takes longer than finding a page of rows by their ids.
#[derive(Clone, Copy, Debug)]
pub struct IsOneOf<'v, C, T> {
    column: C,
    values: &'v [T],
}

/// Adds [`one_of`](Self::one_of) to columns.
pub trait OneOf: Expression + Sized {
    /// Whether this is one of `values`.
    fn one_of<T>(self, values: &[T]) -> IsOneOf<'_, Self, T> {
        IsOneOf { column: self, values }
    }
}

impl<C> OneOf for C
where
    C: Expression,
    C::SqlType: SqlType,
{
}

impl<C, T> IsOneOf<'_, C, T> {
    /// How many values the text has places for, and whether it is worth keeping.
    fn places(&self) -> (usize, bool) {
        let length = LENGTHS.iter().find(|length| **length >= self.values.len());
        length.map_or((self.values.len(), false), |length| (*length, true))
    }
}

impl<C, T> Expression for IsOneOf<'_, C, T>
where
    C: Expression + AsExpression<<C as Expression>::SqlType>,
    C::SqlType: SqlType,
    Eq<C, C>: Expression,
{
    /// What a comparison with one value is of.
    type SqlType = <Eq<C, C> as Expression>::SqlType;
}

impl<C, T, QS> AppearsOnTable<QS> for IsOneOf<'_, C, T>
where
    C: AppearsOnTable<QS>,
    Self: Expression,
{
}

impl<C, T, QS> SelectableExpression<QS> for IsOneOf<'_, C, T>
where
    C: SelectableExpression<QS>,
    Self: AppearsOnTable<QS>,
{
}

impl<C: ValidGrouping<GB>, T, GB> ValidGrouping<GB> for IsOneOf<'_, C, T> {
    type IsAggregate = C::IsAggregate;
}

impl<C: Expression, T> IsOneOf<'_, C, T> {
    /// `column IN ($1, $2, …)` for at least one value.
    fn walk_places<'b, DB>(&'b self, places: usize, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()>
    where
        DB: Backend + HasSqlType<C::SqlType>,
        C: QueryFragment<DB>,
        C::SqlType: SqlType,
        T: ToSql<C::SqlType, DB>,
    {
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" IN (");
        // The last value stands in all places that are left.
        let values = self.values.iter().chain(self.values.last().into_iter().cycle());
        for (index, value) in values.take(places).enumerate() {
            if index > 0 {
                out.push_sql(", ");
            }
            out.push_bind_param::<C::SqlType, T>(value)?;
        }
        out.push_sql(")");
        Ok(())
    }

    fn walk_on_sqlite<'b, DB>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()>
    where
        DB: Backend + HasSqlType<C::SqlType>,
        C: QueryFragment<DB>,
        C::SqlType: SqlType,
        T: ToSql<C::SqlType, DB>,
    {
        if self.values.is_empty() {
            out.push_sql("1=0");
            return Ok(());
        }
        let (places, is_kept) = self.places();
        if !is_kept {
            out.unsafe_to_cache_prepared();
        }
        self.walk_places(places, out)
    }

    /// With an array, PostgreSQL takes it that there are ten values. Whoever had fewer in the first statements has each later
    /// one planned anew, since that seems cheaper, and with tables of many indexes this takes longer than finding the rows.
    fn walk_on_postgres<'b, DB>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()>
    where
        DB: Backend + HasSqlType<C::SqlType> + HasSqlType<Array<C::SqlType>>,
        C: QueryFragment<DB>,
        C::SqlType: SqlType,
        T: ToSql<C::SqlType, DB>,
        [T]: ToSql<Array<C::SqlType>, DB>,
    {
        let (places, is_kept) = self.places();
        if is_kept && !self.values.is_empty() {
            return self.walk_places(places, out);
        }
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" = ANY(");
        out.push_bind_param::<Array<C::SqlType>, [T]>(self.values)?;
        out.push_sql(")");
        Ok(())
    }
}

impl<C, T> QueryFragment<AnyBackend> for IsOneOf<'_, C, T>
where
    C: Expression + QueryFragment<AnyBackend>,
    C::SqlType: SqlType,
    AnyBackend: HasSqlType<C::SqlType>,
    T: ToSql<C::SqlType, AnyBackend>,
{
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        match *out.backend() {
            AnyBackend::Sqlite => self.walk_on_sqlite(out),
            AnyBackend::Postgres => self.walk_on_postgres(out),
        }
    }
}

/// For statements that only PostgreSQL runs, as those that lock rows.
impl<C, T> QueryFragment<Pg> for IsOneOf<'_, C, T>
where
    C: Expression + QueryFragment<Pg>,
    C::SqlType: SqlType,
    Pg: HasSqlType<C::SqlType>,
    T: ToSql<C::SqlType, Pg>,
    [T]: ToSql<Array<C::SqlType>, Pg>,
{
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.walk_on_postgres(out)
    }
}

impl<C, T> QueryId for IsOneOf<'_, C, T> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
