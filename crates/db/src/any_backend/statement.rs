//! A query as its text and its values, which the connection of either database runs.

use std::{any::TypeId, cell::Cell};

use diesel::{
    QueryResult,
    backend::Backend,
    pg::Pg,
    query_builder::{AstPass, Query, QueryBuilder as _, QueryFragment, QueryId},
    result::Error::QueryBuilderError,
    serialize::ToSql,
    sql_types::{
        Array, BigInt, Binary, Bool, Double, HasSqlType, Integer, Nullable, SmallInt, Text, Untyped,
    },
    sqlite::Sqlite,
};

use super::{
    AnyBackend, ColumnType,
    query_builder::AnyQueryBuilder,
    values::{BindList, BindValue, BindValues},
};
use crate::columns::writes_text;

thread_local! {
    /// By what a connection knows the statement that it gets next: see [`Statement::query_id`].
    static IDENTITY: Cell<Option<TypeId>> = const { Cell::new(None) };
}

/// A query with its values. `Q` refers to it or holds it.
pub(super) struct Statement<Q> {
    query: Q,
    backend: &'static AnyBackend,
    values: Vec<BindValue>,
    /// Whether the connection may keep the prepared form.
    is_kept: bool,
}

/// A query of any type. Each type has one function for it; for [`QueryFragment`] it would have five.
pub(super) trait AnyQuery {
    fn walk<'b>(&'b self, out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()>;
}

impl<T: QueryFragment<AnyBackend>> AnyQuery for T {
    fn walk<'b>(&'b self, out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        self.walk_ast(out)
    }
}

/// A query as diesel's, in one type.
struct QueryRef<'q>(&'q (dyn AnyQuery + 'q));

impl QueryFragment<AnyBackend> for QueryRef<'_> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        self.0.walk(out)
    }
}

/// Access to the query of a [`Statement`].
pub(super) trait QueryOf<'q> {
    fn query(&self) -> &(dyn AnyQuery + 'q);
}

impl<'q> QueryOf<'q> for &'q dyn AnyQuery {
    fn query(&self) -> &(dyn AnyQuery + 'q) {
        *self
    }
}

impl<'q> QueryOf<'q> for Box<dyn AnyQuery + 'q> {
    fn query(&self) -> &(dyn AnyQuery + 'q) {
        &**self
    }
}

impl<'q, Q: QueryOf<'q>> Statement<Q> {
    /// Collects the values. The statement has to be given to a connection before another one is made on this thread.
    pub(super) fn new(
        query: Q,
        identity: Option<TypeId>,
        backend: &'static AnyBackend,
    ) -> QueryResult<Self> {
        let mut values = BindValues::default();
        QueryRef(query.query()).collect_binds(&mut values, &mut (), backend)?;
        // A query that its type tells from all others has one text.
        let is_kept =
            identity.is_some() || QueryRef(query.query()).is_safe_to_cache_prepared(backend)?;
        IDENTITY.set(identity);
        Ok(Self { query, backend, values: values.0, is_kept })
    }

    fn text(&self) -> QueryResult<String> {
        let mut builder = AnyQueryBuilder::new(*self.backend);
        QueryRef(self.query.query()).to_sql(&mut builder, self.backend)?;
        Ok(builder.finish())
    }

    /// Writes the text; false where this pass is not about it.
    fn write<DB: Backend>(&self, out: &mut AstPass<'_, '_, DB>) -> QueryResult<bool> {
        let writes = writes_text(out);
        if writes {
            out.push_sql(&self.text()?);
        } else if !self.is_kept {
            out.unsafe_to_cache_prepared();
        }
        Ok(writes)
    }
}

/// Binds a value that both databases have.
fn bind<'b, DB>(out: &mut AstPass<'_, 'b, DB>, value: &'b BindValue) -> QueryResult<()>
where
    DB: Backend + HasSqlType<Bool>,
    bool: ToSql<Bool, DB>,
    i16: ToSql<SmallInt, DB>,
    i32: ToSql<Integer, DB>,
    i64: ToSql<BigInt, DB>,
    f64: ToSql<Double, DB>,
    str: ToSql<Text, DB>,
    [u8]: ToSql<Binary, DB>,
{
    match value {
        BindValue::Bool(value) => out.push_bind_param::<Bool, bool>(value),
        BindValue::SmallInt(value) => out.push_bind_param::<SmallInt, i16>(value),
        BindValue::Integer(value) => out.push_bind_param::<Integer, i32>(value),
        BindValue::BigInt(value) => out.push_bind_param::<BigInt, i64>(value),
        BindValue::Double(value) => out.push_bind_param::<Double, f64>(value),
        BindValue::Text(value) => out.push_bind_param::<Text, str>(value),
        BindValue::Binary(value) => out.push_bind_param::<Binary, [u8]>(value),
        BindValue::Null(column_type) => match column_type {
            ColumnType::Bool => out.push_bind_param::<Nullable<Bool>, Option<bool>>(&None),
            ColumnType::SmallInt => out.push_bind_param::<Nullable<SmallInt>, Option<i16>>(&None),
            ColumnType::Integer => out.push_bind_param::<Nullable<Integer>, Option<i32>>(&None),
            ColumnType::BigInt => out.push_bind_param::<Nullable<BigInt>, Option<i64>>(&None),
            ColumnType::Double => out.push_bind_param::<Nullable<Double>, Option<f64>>(&None),
            ColumnType::Binary => out.push_bind_param::<Nullable<Binary>, Option<Vec<u8>>>(&None),
            ColumnType::Text | ColumnType::Other => {
                out.push_bind_param::<Nullable<Text>, Option<String>>(&None)
            }
        },
        BindValue::List(_) => Err(QueryBuilderError("this database has no lists as values".into())),
    }
}

fn bind_list<'b>(out: &mut AstPass<'_, 'b, Pg>, list: &'b BindList) -> QueryResult<()> {
    match list {
        BindList::Bools(all) => out.push_bind_param::<Array<Nullable<Bool>>, _>(all),
        BindList::SmallInts(all) => out.push_bind_param::<Array<Nullable<SmallInt>>, _>(all),
        BindList::Integers(all) => out.push_bind_param::<Array<Nullable<Integer>>, _>(all),
        BindList::BigInts(all) => out.push_bind_param::<Array<Nullable<BigInt>>, _>(all),
        BindList::Doubles(all) => out.push_bind_param::<Array<Nullable<Double>>, _>(all),
        BindList::Texts(all) => out.push_bind_param::<Array<Nullable<Text>>, _>(all),
        BindList::Binaries(all) => out.push_bind_param::<Array<Nullable<Binary>>, _>(all),
    }
}

impl<'q, Q: QueryOf<'q>> QueryFragment<Sqlite> for Statement<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        if self.write(&mut out)? {
            return Ok(());
        }
        self.values.iter().try_for_each(|value| bind(&mut out, value))
    }
}

impl<'q, Q: QueryOf<'q>> QueryFragment<Pg> for Statement<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        if self.write(&mut out)? {
            return Ok(());
        }
        self.values.iter().try_for_each(|value| match value {
            BindValue::List(list) => bind_list(&mut out, list),
            value => bind(&mut out, value),
        })
    }
}

impl<Q> QueryId for Statement<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;

    /// That of the query. A type can only say it of itself, and there is one type for all queries.
    fn query_id() -> Option<TypeId> {
        IDENTITY.get()
    }
}

impl<Q> Query for Statement<Q> {
    type SqlType = Untyped;
}
