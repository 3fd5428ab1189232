//! One backend of diesel that stands for both databases: a query is compiled once, and written for the database that runs it.
//!
//! Diesel compiles each query for each backend, with all that serializes its values and reads its rows. For this one it is
//! done once; the text is made when a connection prepares it, and [`Conn`](crate::Conn) hands text and values to the
//! connection of either database as one [`Statement`](statement), which diesel compiles once, too.

mod connection;
mod dialect;
mod limit;
mod list;
mod query_builder;
mod row;
mod statement;
mod values;

use diesel::{
    backend::{Backend, DieselReserveSpecialization, TrustedBackend},
    sql_types::{
        Array, BigInt, Binary, Bool, Date, Double, Float, HasSqlType, Integer, SmallInt, SqlType,
        Text, Time, Timestamp, TypeMetadata,
    },
};

use self::{query_builder::AnyQueryBuilder, row::AnyValue, values::BindValues};

/// The database of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyBackend {
    Sqlite,
    Postgres,
}

/// The types of columns that both databases have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Bool,
    SmallInt,
    Integer,
    BigInt,
    Double,
    Text,
    Binary,
    /// No table has a column of it.
    Other,
}

impl Backend for AnyBackend {
    type QueryBuilder = AnyQueryBuilder;
    type RawValue<'a> = AnyValue<'a>;
    type BindCollector<'a> = BindValues;
}

impl TypeMetadata for AnyBackend {
    type TypeMetadata = ColumnType;
    type MetadataLookup = ();
}

impl DieselReserveSpecialization for AnyBackend {}
impl TrustedBackend for AnyBackend {}

macro_rules! column_types {
    ($($sql_type:ty => $column_type:ident,)*) => {$(
        impl HasSqlType<$sql_type> for AnyBackend {
            fn metadata((): &mut ()) -> ColumnType {
                ColumnType::$column_type
            }
        }
    )*};
}

column_types! {
    Bool => Bool,
    SmallInt => SmallInt,
    Integer => Integer,
    BigInt => BigInt,
    Double => Double,
    Text => Text,
    Binary => Binary,
    // Diesel wants every backend to have these.
    Float => Other,
    Date => Other,
    Time => Other,
    Timestamp => Other,
}

/// Lists are values of PostgreSQL alone; the type is that of their elements.
impl<ST: SqlType> HasSqlType<Array<ST>> for AnyBackend
where
    AnyBackend: HasSqlType<ST>,
{
    fn metadata(lookup: &mut ()) -> ColumnType {
        <Self as HasSqlType<ST>>::metadata(lookup)
    }
}
