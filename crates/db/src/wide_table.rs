//! Tables and records of more columns than diesel's tuples have places.
//!
//! Diesel implements its traits for tuples one length after another, and each takes longer than the one before: for 64 places
//! that is two minutes of every clean build, for 32 half a minute. So `table!` declares the first 32 columns of a table, this
//! module's `columns!` the others, and [`record!`](crate::record) reads a record without a tuple.

use diesel::{
    backend::Backend,
    deserialize::{FromSql, Result},
    result::UnexpectedEndOfRow,
    row::{Field as _, Row},
};

/// Columns of a table that `diesel::table!` has no place for. Queries use them like the others; they are not in
/// `all_columns`. `table` has to be in scope.
macro_rules! columns {
    ($($name:ident -> $sql_type:ident $(<$inner:ident>)?,)*) => {$(
        #[expect(non_camel_case_types, reason = "a column is written as in SQL")]
        #[derive(Clone, Copy, Debug, Default, diesel::query_builder::QueryId)]
        pub struct $name;

        // What `table!` writes for a column.
        const _: () = {
            use diesel::{
                AppearsOnTable, QueryResult, SelectableExpression,
                backend::Backend,
                expression::{
                    Expression, IsContainedInGroupBy, ValidGrouping, is_aggregate,
                    is_contained_in_group_by,
                },
                internal::table_macro::{
                    FromClause, Inner, Join, JoinOn, LeftOuter, Pick, SelectStatement,
                    StaticQueryFragmentInstance,
                },
                query_builder::{AstPass, QueryFragment},
                query_source::{AppearsInFromClause, Column, Never, Once, QuerySource},
                sql_types,
            };

            impl Expression for $name {
                type SqlType = sql_types::$sql_type $(<sql_types::$inner>)?;
            }

            impl<DB: Backend> QueryFragment<DB> for $name
            where
                StaticQueryFragmentInstance<table>: QueryFragment<DB>,
            {
                fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
                    if !out.should_skip_from() {
                        const TABLE: StaticQueryFragmentInstance<table> =
                            StaticQueryFragmentInstance::new();
                        TABLE.walk_ast(out.reborrow())?;
                        out.push_sql(".");
                    }
                    out.push_identifier(stringify!($name))
                }
            }

            impl Column for $name {
                type Table = table;

                const NAME: &'static str = stringify!($name);
            }

            impl SelectableExpression<table> for $name {}

            impl<QS> AppearsOnTable<QS> for $name where QS: AppearsInFromClause<table, Count = Once> {}

            impl<Left, Right> SelectableExpression<Join<Left, Right, LeftOuter>> for $name
            where
                $name: AppearsOnTable<Join<Left, Right, LeftOuter>> + SelectableExpression<Left>,
                Left: QuerySource,
                Right: QuerySource + AppearsInFromClause<table, Count = Never>,
            {
            }

            impl<Left, Right> SelectableExpression<Join<Left, Right, Inner>> for $name
            where
                $name: AppearsOnTable<Join<Left, Right, Inner>>
                    + SelectableExpression<
                        <(Left::Count, Right::Count) as Pick<Left, Right>>::Selection,
                    >,
                Left: QuerySource + AppearsInFromClause<table>,
                Right: QuerySource + AppearsInFromClause<table>,
                (Left::Count, Right::Count): Pick<Left, Right>,
            {
            }

            impl<Source, On> SelectableExpression<JoinOn<Source, On>> for $name where
                $name: SelectableExpression<Source> + AppearsOnTable<JoinOn<Source, On>>
            {
            }

            impl<Source> SelectableExpression<SelectStatement<FromClause<Source>>> for $name
            where
                Source: QuerySource,
                $name: SelectableExpression<Source>
                    + AppearsOnTable<SelectStatement<FromClause<Source>>>,
            {
            }

            impl<Group> ValidGrouping<Group> for $name
            where
                Group: IsContainedInGroupBy<$name, Output = is_contained_in_group_by::Yes>,
            {
                type IsAggregate = is_aggregate::Yes;
            }

            impl ValidGrouping<()> for $name {
                type IsAggregate = is_aggregate::No;
            }

            impl IsContainedInGroupBy<$name> for $name {
                type Output = is_contained_in_group_by::Yes;
            }
        };

        $crate::wide_table::columns!(@numbers $name $sql_type);
    )*};
    (@numbers $name:ident BigInt) => {
        $crate::wide_table::columns!(@operator $name Add add);
        $crate::wide_table::columns!(@operator $name Sub sub);
    };
    (@numbers $name:ident $sql_type:ident) => {};
    (@operator $name:ident $operator:ident $function:ident) => {
        impl<Rhs> std::ops::$operator<Rhs> for $name
        where
            Rhs: diesel::expression::AsExpression<
                <diesel::sql_types::BigInt as diesel::sql_types::ops::$operator>::Rhs,
            >,
        {
            type Output = diesel::internal::table_macro::ops::$operator<Self, Rhs::Expression>;

            fn $function(self, rhs: Rhs) -> Self::Output {
                diesel::internal::table_macro::ops::$operator::new(self, rhs.as_expression())
            }
        }
    };
}

pub(crate) use columns;

/// Reads one column of a row, and goes on to the next.
#[doc(hidden)]
pub fn read_column<'a, ST, T, DB>(row: &impl Row<'a, DB>, index: &mut usize) -> Result<T>
where
    T: FromSql<ST, DB>,
    DB: Backend,
{
    let field = row.get(*index).ok_or(UnexpectedEndOfRow)?;
    *index += 1;
    T::from_nullable_sql(field.value()).map_err(|cause| {
        let name = field.field_name().unwrap_or_default();
        format!("column {name}: {cause}").into()
    })
}

/// A record of one table that is selected whole, as `#[derive(Queryable, Selectable)]` makes it.
///
/// The derived code selects and reads a record as a tuple, whose every place the compiler proves anew for each query. Here
/// the columns are one expression with a type of its own, which is proved once: a record of 42 columns costs as little as
/// one of two, and its length has no bound.
///
/// ```text
/// db::record! {
///     /// A record with many columns.
///     #[derive(Clone, Debug)]
///     pub struct Record from records {
///         pub id: i64,
///         pub name: String,
///     }
/// }
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$attribute:meta])*
        pub struct $record:ident from $table:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $record {
            $($(#[$field_attribute])* pub $field: $type,)*
        }

        const _: () = {
            use $crate::{
                diesel::{
                    backend::Backend,
                    deserialize::{FromSqlRow, Result, StaticallySizedRow},
                    expression::{
                        AppearsOnTable, Expression, QueryMetadata, Selectable,
                        SelectableExpression, TypedExpressionType, ValidGrouping, is_aggregate,
                    },
                    internal::table_macro::StaticQueryFragmentInstance,
                    query_builder::{AstPass, QueryFragment, QueryId},
                    row::Row,
                    sql_types::{SqlType, is_nullable},
                },
                schema::$table,
            };

            /// All columns, as one expression.
            #[derive(Clone, Copy, Debug, QueryId)]
            pub struct Columns;

            /// The type of that expression.
            #[derive(Clone, Copy, Debug, QueryId)]
            pub struct RowType;

            const COUNT: usize = [$(stringify!($field)),*].len();
            type First = $crate::record!(@first $($table::$field,)*);

            impl SqlType for RowType {
                type IsNull = is_nullable::NotNull;

                const IS_ARRAY: bool = false;
            }

            impl TypedExpressionType for RowType {}

            impl Expression for Columns {
                type SqlType = RowType;
            }

            impl<DB: Backend> QueryFragment<DB> for Columns
            where
                StaticQueryFragmentInstance<$table::table>: QueryFragment<DB>,
            {
                fn walk_ast<'b>(
                    &'b self,
                    mut out: AstPass<'_, 'b, DB>,
                ) -> $crate::diesel::QueryResult<()> {
                    if !$crate::writes_text(&mut out) {
                        out.push_sql("");
                        return Ok(());
                    }
                    let mut separator = "";
                    $(
                        out.push_sql(std::mem::replace(&mut separator, ", "));
                        $table::$field.walk_ast(out.reborrow())?;
                    )*
                    Ok(())
                }
            }

            impl<QS> SelectableExpression<QS> for Columns
            where
                First: SelectableExpression<QS>,
                Self: AppearsOnTable<QS>,
            {
            }

            impl<QS> AppearsOnTable<QS> for Columns where First: AppearsOnTable<QS> {}

            impl ValidGrouping<()> for Columns {
                type IsAggregate = is_aggregate::No;
            }

            impl<DB: Backend> Selectable<DB> for $record {
                type SelectExpression = Columns;

                fn construct_selection() -> Columns {
                    Columns
                }
            }

            $crate::record!(@backend $record, $table, $($field,)*);
        };
    };
    (@first $first:path, $($other:path,)*) => { $first };
    (@backend $record:ident, $table:ident, $($field:ident,)*) => {
        impl QueryMetadata<RowType> for $crate::AnyBackend {
            fn row_metadata(
                _lookup: &mut Self::MetadataLookup,
                out: &mut Vec<Option<Self::TypeMetadata>>,
            ) {
                out.extend((0..COUNT).map(|_| None));
            }
        }

        impl StaticallySizedRow<RowType, $crate::AnyBackend> for $record {
            const FIELD_COUNT: usize = COUNT;
        }

        impl FromSqlRow<RowType, $crate::AnyBackend> for $record {
            fn build_from_row<'a>(row: &impl Row<'a, $crate::AnyBackend>) -> Result<Self> {
                let mut index = 0;
                Ok(Self {
                    $($field: $crate::read_column::<<$table::$field as Expression>::SqlType, _, _>(
                        row, &mut index,
                    )?,)*
                })
            }
        }
    };
}
