//! The columns of a record, which only the text of a query asks for.

use diesel::{
    QueryResult,
    backend::Backend,
    expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping},
    query_builder::{AstPass, QueryFragment, QueryId},
};

/// Columns that bind no value, as those of a record: see [`columns`].
#[derive(Clone, Copy, Debug, QueryId)]
pub struct Columns<E>(E);

/// The columns of a record, as `columns(Record::as_select())`. The values of a query are collected by a way through all of
/// it; for records of many columns that are read one by one, it is worth to leave them out.
pub const fn columns<E: Expression>(record: E) -> Columns<E> {
    Columns(record)
}

/// Whether this pass writes the text: only such a one keeps what it is told here.
#[doc(hidden)]
pub fn writes_text<DB: Backend>(out: &mut AstPass<'_, '_, DB>) -> bool {
    let skips = out.should_skip_from();
    out.skip_from(true);
    let writes = out.should_skip_from();
    out.skip_from(skips);
    writes
}

impl<E: QueryFragment<DB>, DB: Backend> QueryFragment<DB> for Columns<E> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        if writes_text(&mut out) {
            return self.0.walk_ast(out);
        }
        // For the pass that asks whether there is any text.
        out.push_sql("");
        Ok(())
    }
}

impl<E: Expression> Expression for Columns<E> {
    type SqlType = E::SqlType;
}

impl<E: AppearsOnTable<QS>, QS> AppearsOnTable<QS> for Columns<E> {}

impl<E: SelectableExpression<QS>, QS> SelectableExpression<QS> for Columns<E> {}

impl<E: ValidGrouping<GB>, GB> ValidGrouping<GB> for Columns<E> {
    type IsAggregate = E::IsAggregate;
}
