//! `LIMIT` and `OFFSET`.

use diesel::{
    QueryResult,
    query_builder::{
        AstPass, BoxedLimitOffsetClause, IntoBoxedClause, LimitClause, LimitOffsetClause,
        NoLimitClause, NoOffsetClause, OffsetClause, QueryFragment,
    },
};

use super::AnyBackend;

/// SQLite has no offset without a limit; -1 is none.
fn no_limit(out: &mut AstPass<'_, '_, AnyBackend>) {
    if *out.backend() == AnyBackend::Sqlite {
        out.push_sql(" LIMIT -1 ");
    }
}

impl QueryFragment<AnyBackend> for LimitOffsetClause<NoLimitClause, NoOffsetClause> {
    fn walk_ast<'b>(&'b self, _: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        Ok(())
    }
}

impl<L> QueryFragment<AnyBackend> for LimitOffsetClause<LimitClause<L>, NoOffsetClause>
where
    LimitClause<L>: QueryFragment<AnyBackend>,
{
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        self.limit_clause.walk_ast(out)
    }
}

impl<O> QueryFragment<AnyBackend> for LimitOffsetClause<NoLimitClause, OffsetClause<O>>
where
    OffsetClause<O>: QueryFragment<AnyBackend>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        no_limit(&mut out);
        self.offset_clause.walk_ast(out)
    }
}

impl<L, O> QueryFragment<AnyBackend> for LimitOffsetClause<LimitClause<L>, OffsetClause<O>>
where
    LimitClause<L>: QueryFragment<AnyBackend>,
    OffsetClause<O>: QueryFragment<AnyBackend>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        self.limit_clause.walk_ast(out.reborrow())?;
        self.offset_clause.walk_ast(out)
    }
}

impl QueryFragment<AnyBackend> for BoxedLimitOffsetClause<'_, AnyBackend> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, AnyBackend>) -> QueryResult<()> {
        match (&self.limit, &self.offset) {
            (Some(limit), _) => limit.walk_ast(out.reborrow())?,
            (None, Some(_)) => no_limit(&mut out),
            (None, None) => {}
        }
        match &self.offset {
            Some(offset) => offset.walk_ast(out),
            None => Ok(()),
        }
    }
}

impl<'a> IntoBoxedClause<'a, AnyBackend> for LimitOffsetClause<NoLimitClause, NoOffsetClause> {
    type BoxedClause = BoxedLimitOffsetClause<'a, AnyBackend>;

    fn into_boxed(self) -> Self::BoxedClause {
        BoxedLimitOffsetClause { limit: None, offset: None }
    }
}

impl<'a, L> IntoBoxedClause<'a, AnyBackend> for LimitOffsetClause<LimitClause<L>, NoOffsetClause>
where
    L: QueryFragment<AnyBackend> + Send + 'a,
{
    type BoxedClause = BoxedLimitOffsetClause<'a, AnyBackend>;

    fn into_boxed(self) -> Self::BoxedClause {
        BoxedLimitOffsetClause { limit: Some(Box::new(self.limit_clause)), offset: None }
    }
}

impl<'a, O> IntoBoxedClause<'a, AnyBackend> for LimitOffsetClause<NoLimitClause, OffsetClause<O>>
where
    O: QueryFragment<AnyBackend> + Send + 'a,
{
    type BoxedClause = BoxedLimitOffsetClause<'a, AnyBackend>;

    fn into_boxed(self) -> Self::BoxedClause {
        BoxedLimitOffsetClause { limit: None, offset: Some(Box::new(self.offset_clause)) }
    }
}

impl<'a, L, O> IntoBoxedClause<'a, AnyBackend>
    for LimitOffsetClause<LimitClause<L>, OffsetClause<O>>
where
    L: QueryFragment<AnyBackend> + Send + 'a,
    O: QueryFragment<AnyBackend> + Send + 'a,
{
    type BoxedClause = BoxedLimitOffsetClause<'a, AnyBackend>;

    fn into_boxed(self) -> Self::BoxedClause {
        BoxedLimitOffsetClause {
            limit: Some(Box::new(self.limit_clause)),
            offset: Some(Box::new(self.offset_clause)),
        }
    }
}
