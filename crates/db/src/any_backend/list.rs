//! `IN` and `NOT IN`: PostgreSQL compares with one list, SQLite with each value.

use diesel::{
    QueryResult,
    expression::array_comparison::{In, InExpression, Many, NotIn},
    query_builder::{AstPass, QueryFragment},
    serialize::ToSql,
    sql_types::{Array, HasSqlType, SingleValue},
};

use super::{AnyBackend, dialect::AnyArrayComparison};

impl<T, U> QueryFragment<AnyBackend, AnyArrayComparison> for In<T, U>
where
    T: QueryFragment<AnyBackend>,
    U: QueryFragment<AnyBackend> + InExpression,
{
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        match *out.backend() {
            AnyBackend::Sqlite if self.values.is_empty() => nothing(out, "1=0"),
            AnyBackend::Sqlite => walk(&self.left, " IN (", &self.values, out),
            AnyBackend::Postgres => walk(&self.left, " = ANY(", &self.values, out),
        }
    }
}

impl<T, U> QueryFragment<AnyBackend, AnyArrayComparison> for NotIn<T, U>
where
    T: QueryFragment<AnyBackend>,
    U: QueryFragment<AnyBackend> + InExpression,
{
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        match *out.backend() {
            AnyBackend::Sqlite if self.values.is_empty() => nothing(out, "1=1"),
            AnyBackend::Sqlite => walk(&self.left, " NOT IN (", &self.values, out),
            AnyBackend::Postgres => walk(&self.left, " != ALL(", &self.values, out),
        }
    }
}

fn nothing(mut out: AstPass<'_, '_, AnyBackend>, sql: &str) -> QueryResult<()> {
    out.push_sql(sql);
    Ok(())
}

fn walk<'b>(
    left: &'b impl QueryFragment<AnyBackend>,
    operator: &str,
    values: &'b impl QueryFragment<AnyBackend>,
    mut out: AstPass<'_, 'b, AnyBackend>,
) -> QueryResult<()> {
    left.walk_ast(out.reborrow())?;
    out.push_sql(operator);
    values.walk_ast(out.reborrow())?;
    out.push_sql(")");
    Ok(())
}

impl<ST, I> QueryFragment<AnyBackend, AnyArrayComparison> for Many<ST, I>
where
    ST: SingleValue,
    AnyBackend: HasSqlType<ST>,
    I: ToSql<ST, AnyBackend>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        if *out.backend() == AnyBackend::Postgres {
            return out.push_bind_param::<Array<ST>, [I]>(&self.values);
        }
        // Its text tells how many values there are.
        out.unsafe_to_cache_prepared();
        for (index, value) in self.values.iter().enumerate() {
            if index > 0 {
                out.push_sql(", ");
            }
            out.push_bind_param::<ST, I>(value)?;
        }
        Ok(())
    }
}
