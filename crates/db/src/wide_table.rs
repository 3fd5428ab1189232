//! Tables and records of more columns than diesel's tuples have places.
//!
//! Diesel implements its traits for tuples one length after another, and each takes longer than the one before: for 64 places
//! that is two minutes of every clean build, for 32 half a minute. So `table!` declares the first 32 columns of a table, this
//! module's `columns!` the others, and [`wide_record!`](crate::wide_record) reads a record as two tuples in one.

/// Columns of a table that `diesel::table!` has no place for. Queries use them like the others; they are not in
/// `all_columns`. `table` has to be in scope.
macro_rules! columns {
    ($($name:ident -> $sql_type:ident $(<$inner:ident>)?,)*) => {$(
        #[expect(non_camel_case_types, reason = "a column is written as in SQL")]
        #[derive(Clone, Copy, Debug, Default, diesel::query_builder::QueryId)]
        pub struct $name;

        impl diesel::expression::Expression for $name {
            type SqlType = $sql_type $(<$inner>)?;
        }

        impl<DB> diesel::query_builder::QueryFragment<DB> for $name
        where
            DB: diesel::backend::Backend,
            diesel::internal::table_macro::StaticQueryFragmentInstance<table>:
                diesel::query_builder::QueryFragment<DB>,
        {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, DB>,
            ) -> diesel::QueryResult<()> {
                if !out.should_skip_from() {
                    const TABLE: diesel::internal::table_macro::StaticQueryFragmentInstance<table> =
                        diesel::internal::table_macro::StaticQueryFragmentInstance::new();
                    TABLE.walk_ast(out.reborrow())?;
                    out.push_sql(".");
                }
                out.push_identifier(stringify!($name))
            }
        }

        impl diesel::query_source::Column for $name {
            type Table = table;

            const NAME: &'static str = stringify!($name);
        }

        impl diesel::SelectableExpression<table> for $name {}

        impl<QS> diesel::AppearsOnTable<QS> for $name where
            QS: diesel::query_source::AppearsInFromClause<table, Count = diesel::query_source::Once>
        {
        }

        impl<Left, Right>
            diesel::SelectableExpression<
                diesel::internal::table_macro::Join<
                    Left,
                    Right,
                    diesel::internal::table_macro::LeftOuter,
                >,
            > for $name
        where
            $name: diesel::AppearsOnTable<
                diesel::internal::table_macro::Join<
                    Left,
                    Right,
                    diesel::internal::table_macro::LeftOuter,
                >,
            >,
            Self: diesel::SelectableExpression<Left>,
            Right: diesel::query_source::AppearsInFromClause<table, Count = diesel::query_source::Never>
                + diesel::query_source::QuerySource,
            Left: diesel::query_source::QuerySource,
        {
        }

        impl<Left, Right>
            diesel::SelectableExpression<
                diesel::internal::table_macro::Join<
                    Left,
                    Right,
                    diesel::internal::table_macro::Inner,
                >,
            > for $name
        where
            $name: diesel::AppearsOnTable<
                diesel::internal::table_macro::Join<
                    Left,
                    Right,
                    diesel::internal::table_macro::Inner,
                >,
            >,
            Left: diesel::query_source::AppearsInFromClause<table> + diesel::query_source::QuerySource,
            Right: diesel::query_source::AppearsInFromClause<table> + diesel::query_source::QuerySource,
            (Left::Count, Right::Count): diesel::internal::table_macro::Pick<Left, Right>,
            Self: diesel::SelectableExpression<
                <(Left::Count, Right::Count) as diesel::internal::table_macro::Pick<
                    Left,
                    Right,
                >>::Selection,
            >,
        {
        }

        impl<Join, On>
            diesel::SelectableExpression<diesel::internal::table_macro::JoinOn<Join, On>> for $name
        where
            $name: diesel::SelectableExpression<Join>
                + diesel::AppearsOnTable<diesel::internal::table_macro::JoinOn<Join, On>>,
        {
        }

        impl<From>
            diesel::SelectableExpression<
                diesel::internal::table_macro::SelectStatement<
                    diesel::internal::table_macro::FromClause<From>,
                >,
            > for $name
        where
            From: diesel::query_source::QuerySource,
            $name: diesel::SelectableExpression<From>
                + diesel::AppearsOnTable<
                    diesel::internal::table_macro::SelectStatement<
                        diesel::internal::table_macro::FromClause<From>,
                    >,
                >,
        {
        }

        impl<Group> diesel::expression::ValidGrouping<Group> for $name
        where
            Group: diesel::expression::IsContainedInGroupBy<
                $name,
                Output = diesel::expression::is_contained_in_group_by::Yes,
            >,
        {
            type IsAggregate = diesel::expression::is_aggregate::Yes;
        }

        impl diesel::expression::ValidGrouping<()> for $name {
            type IsAggregate = diesel::expression::is_aggregate::No;
        }

        impl diesel::expression::IsContainedInGroupBy<$name> for $name {
            type Output = diesel::expression::is_contained_in_group_by::Yes;
        }

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
                <BigInt as diesel::sql_types::ops::$operator>::Rhs,
            >,
        {
            type Output =
                diesel::internal::table_macro::ops::$operator<Self, Rhs::Expression>;

            fn $function(self, rhs: Rhs) -> Self::Output {
                diesel::internal::table_macro::ops::$operator::new(self, rhs.as_expression())
            }
        }
    };
}

pub(crate) use columns;

/// A record of one table, as `#[derive(Queryable, Selectable)]` makes it, of more fields than diesel reads in one tuple: the
/// fields before `and` are read as one, those after it as another.
///
/// ```text
/// db::wide_record! {
///     /// A record with many columns.
///     #[derive(Clone, Debug)]
///     pub struct Record from db::schema::records {
///         pub id: i64,
///     } and {
///         pub name: String,
///     }
/// }
/// ```
#[macro_export]
macro_rules! wide_record {
    (
        $(#[$attribute:meta])*
        pub struct $record:ident from $table:path {
            $($(#[$one_attribute:meta])* pub $one:ident: $one_type:ty,)*
        } and {
            $($(#[$other_attribute:meta])* pub $other:ident: $other_type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $record {
            $($(#[$one_attribute])* pub $one: $one_type,)*
            $($(#[$other_attribute])* pub $other: $other_type,)*
        }

        const _: () = {
            use $crate::diesel::{
                backend::Backend,
                deserialize::{FromStaticSqlRow, Queryable, Result},
                expression::Selectable,
            };

            #[derive(Queryable, Selectable)]
            #[diesel(table_name = $table)]
            pub struct First {
                $($one: $one_type,)*
            }

            #[derive(Queryable, Selectable)]
            #[diesel(table_name = $table)]
            pub struct Second {
                $($other: $other_type,)*
            }

            impl<DB: Backend> Selectable<DB> for $record {
                type SelectExpression = (
                    <First as Selectable<DB>>::SelectExpression,
                    <Second as Selectable<DB>>::SelectExpression,
                );

                fn construct_selection() -> Self::SelectExpression {
                    (
                        <First as Selectable<DB>>::construct_selection(),
                        <Second as Selectable<DB>>::construct_selection(),
                    )
                }
            }

            impl<One, Other, DB: Backend> Queryable<(One, Other), DB> for $record
            where
                (First, Second): FromStaticSqlRow<(One, Other), DB>,
            {
                type Row = (First, Second);

                fn build((first, second): Self::Row) -> Result<Self> {
                    Ok(Self {
                        $($one: first.$one,)*
                        $($other: second.$other,)*
                    })
                }
            }
        };
    };
}
