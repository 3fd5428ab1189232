//! What both databases write in the same way, and what diesel has written for one of them.

use diesel::{
    AppearsOnTable, Column, Expression, QueryResult,
    backend::{
        SqlDialect,
        sql_dialect::{
            aggregate_function_expressions::PostgresLikeAggregateFunctionExpressions,
            alias_syntax::AsAliasSyntax,
            batch_insert_support::PostgresLikeBatchInsertSupport,
            built_in_window_function_require_order::NoOrderRequired,
            concat_clause::ConcatWithPipesClause,
            default_keyword_for_insert::SupportsDefaultKeyword,
            default_value_clause::AnsiDefaultValueClause,
            exists_syntax::AnsiSqlExistsSyntax,
            from_clause_syntax::AnsiSqlFromClauseSyntax,
            on_conflict_clause::{
                PgLikeOnConflictClause, SupportsOnConflictClause, SupportsOnConflictClauseWhere,
            },
            returning_clause::SupportsReturningClause,
            select_statement_syntax::AnsiSqlSelectStatement,
            window_frame_clause_group_support::IsoGroupWindowFrameUnit,
            window_frame_exclusion_support::FrameExclusionSupport,
        },
    },
    insertable::{
        CanInsertInSingleQuery, ColumnInsertValue, DefaultableColumnInsertValue, InsertValues,
    },
    query_builder::{AstPass, BatchInsert, NoFromClause, QueryFragment, ReturningClause},
};

use super::AnyBackend;

impl SqlDialect for AnyBackend {
    type ReturningClause = AnyReturningClause;
    type OnConflictClause = AnyOnConflictClause;
    type InsertWithDefaultKeyword = NullAsDefault;
    type BatchInsertSupport = PostgresLikeBatchInsertSupport;
    type ConcatClause = ConcatWithPipesClause;
    type DefaultValueClauseForInsert = AnsiDefaultValueClause;
    type EmptyFromClauseSyntax = AnsiSqlFromClauseSyntax;
    type SelectStatementSyntax = AnsiSqlSelectStatement;
    type ExistsSyntax = AnsiSqlExistsSyntax;
    type ArrayComparison = AnyArrayComparison;
    type AliasSyntax = AsAliasSyntax;
    type WindowFrameClauseGroupSupport = IsoGroupWindowFrameUnit;
    type WindowFrameExclusionSupport = FrameExclusionSupport;
    type AggregateFunctionExpressions = PostgresLikeAggregateFunctionExpressions;
    type BuiltInWindowFunctionRequireOrder = NoOrderRequired;
}

#[derive(Clone, Copy, Debug)]
pub struct AnyArrayComparison;

#[derive(Clone, Copy, Debug)]
pub struct AnyOnConflictClause;

impl SupportsOnConflictClause for AnyOnConflictClause {}
impl SupportsOnConflictClauseWhere for AnyOnConflictClause {}
impl PgLikeOnConflictClause for AnyOnConflictClause {}

#[derive(Clone, Copy, Debug)]
pub struct AnyReturningClause;

impl SupportsReturningClause for AnyReturningClause {}

/// Columns without their table, which SQLite wants and PostgreSQL takes.
impl<E> QueryFragment<AnyBackend, AnyReturningClause> for ReturningClause<E>
where
    E: QueryFragment<AnyBackend>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        out.skip_from(true);
        out.push_sql(" RETURNING ");
        self.0.walk_ast(out)
    }
}

/// A column of an insert without a value is null: SQLite has no word for the default of a column.
#[derive(Clone, Copy, Debug)]
pub struct NullAsDefault;

impl SupportsDefaultKeyword for NullAsDefault {}

impl<C, E> InsertValues<AnyBackend, C::Table>
    for DefaultableColumnInsertValue<ColumnInsertValue<C, E>>
where
    C: Column,
    E: Expression<SqlType = C::SqlType> + AppearsOnTable<NoFromClause>,
    Self: QueryFragment<AnyBackend>,
{
    fn column_names(&self, mut out: AstPass<'_, '_, AnyBackend>) -> QueryResult<()> {
        out.push_identifier(C::NAME)
    }
}

impl<C, E> QueryFragment<AnyBackend, NullAsDefault>
    for DefaultableColumnInsertValue<ColumnInsertValue<C, E>>
where
    E: QueryFragment<AnyBackend>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        // Whether there is a value is a part of the text.
        out.unsafe_to_cache_prepared();
        match self {
            Self::Expression(value) => value.walk_ast(out),
            Self::Default => {
                out.push_sql("NULL");
                Ok(())
            }
        }
    }
}

impl<V, T, Q, const STATIC: bool> CanInsertInSingleQuery<AnyBackend>
    for BatchInsert<Vec<V>, T, Q, STATIC>
{
    fn rows_to_insert(&self) -> Option<usize> {
        Some(self.values.len())
    }
}
