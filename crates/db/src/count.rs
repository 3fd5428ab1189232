//! Counting no further than a list shows.

use diesel::{
    QueryResult, RunQueryDsl,
    backend::Backend,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_types::BigInt,
};

/// How many rows the inner query has. Give that one a limit, and the count stops there.
#[derive(Clone, Copy, Debug)]
pub struct CountOf<Q>(pub Q);

impl<Q: QueryFragment<DB>, DB: Backend> QueryFragment<DB> for CountOf<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("SELECT COUNT(*) FROM (");
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(") AS counted");
        Ok(())
    }
}

impl<Q> QueryId for CountOf<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> Query for CountOf<Q> {
    type SqlType = BigInt;
}

impl<Q, Conn> RunQueryDsl<Conn> for CountOf<Q> {}
