//! Values that a query binds.

use diesel::{
    QueryResult,
    query_builder::bind_collector::BindCollector,
    result::Error::SerializationError,
    serialize::{self, IsNull, Output, ToSql},
    sql_types::{
        Array, BigInt, Binary, Bool, Double, HasSqlType, Integer, SmallInt, SqlType, Text,
    },
};

use super::{AnyBackend, ColumnType};

/// Why a value cannot be bound.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A value, until the connection of either database takes it.
#[derive(Clone, Debug, PartialEq)]
pub enum BindValue {
    Null(ColumnType),
    Bool(bool),
    SmallInt(i16),
    Integer(i32),
    BigInt(i64),
    Double(f64),
    Text(String),
    Binary(Vec<u8>),
    List(BindList),
}

/// A list as one value, for PostgreSQL.
#[derive(Clone, Debug, PartialEq)]
pub enum BindList {
    Bools(Vec<Option<bool>>),
    SmallInts(Vec<Option<i16>>),
    Integers(Vec<Option<i32>>),
    BigInts(Vec<Option<i64>>),
    Doubles(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Binaries(Vec<Option<Vec<u8>>>),
}

/// The values of a query, in their order.
#[derive(Debug, Default)]
pub struct BindValues(pub(super) Vec<BindValue>);

impl<'a> BindCollector<'a, AnyBackend> for BindValues {
    type Buffer = BindValue;

    fn push_bound_value<T, U>(&mut self, bind: &'a U, lookup: &mut ()) -> QueryResult<()>
    where
        AnyBackend: HasSqlType<T>,
        U: ToSql<T, AnyBackend> + ?Sized + 'a,
    {
        self.push(serialize::<T, U>(bind, lookup))
    }

    fn push_null_value(&mut self, column_type: ColumnType) -> QueryResult<()> {
        self.push(Ok(BindValue::Null(column_type)))
    }
}

impl BindValues {
    /// What adding a value comes to for every type.
    #[inline(never)]
    fn push(&mut self, value: Result<BindValue, Cause>) -> QueryResult<()> {
        self.0.push(value.map_err(SerializationError)?);
        Ok(())
    }
}

fn serialize<T, U>(value: &U, lookup: &mut ()) -> Result<BindValue, Cause>
where
    AnyBackend: HasSqlType<T>,
    U: ToSql<T, AnyBackend> + ?Sized,
{
    let column_type = <AnyBackend as HasSqlType<T>>::metadata(lookup);
    let mut output = Output::new(BindValue::Null(column_type), lookup);
    Ok(match value.to_sql(&mut output)? {
        IsNull::No => output.into_inner(),
        IsNull::Yes => BindValue::Null(column_type),
    })
}

macro_rules! values {
    ($($rust:ty, $sql_type:ident => $variant:ident($value:ident) $owned:expr;)*) => {$(
        impl ToSql<$sql_type, AnyBackend> for $rust {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, AnyBackend>) -> serialize::Result {
                let $value = self;
                out.set_value(BindValue::$variant($owned));
                Ok(IsNull::No)
            }
        }
    )*};
}

values! {
    bool, Bool => Bool(value) *value;
    i16, SmallInt => SmallInt(value) *value;
    i32, Integer => Integer(value) *value;
    i64, BigInt => BigInt(value) *value;
    f64, Double => Double(value) *value;
    str, Text => Text(value) value.to_owned();
    [u8], Binary => Binary(value) value.to_owned();
}

impl<ST, T> ToSql<Array<ST>, AnyBackend> for [T]
where
    ST: SqlType,
    AnyBackend: HasSqlType<ST>,
    T: ToSql<ST, AnyBackend>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, AnyBackend>) -> serialize::Result {
        let column_type = <AnyBackend as HasSqlType<ST>>::metadata(out.metadata_lookup());
        let values: Result<Vec<_>, _> =
            self.iter().map(|value| serialize::<ST, T>(value, &mut ())).collect();
        out.set_value(BindValue::List(BindList::new(column_type, values?)?));
        Ok(IsNull::No)
    }
}

impl<ST, T> ToSql<Array<ST>, AnyBackend> for Vec<T>
where
    ST: SqlType,
    T: std::fmt::Debug,
    [T]: ToSql<Array<ST>, AnyBackend>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, AnyBackend>) -> serialize::Result {
        self.as_slice().to_sql(out)
    }
}

impl BindList {
    fn new(column_type: ColumnType, values: Vec<BindValue>) -> Result<Self, Cause> {
        Ok(match column_type {
            ColumnType::Bool => Self::Bools(elements(values)?),
            ColumnType::SmallInt => Self::SmallInts(elements(values)?),
            ColumnType::Integer => Self::Integers(elements(values)?),
            ColumnType::BigInt => Self::BigInts(elements(values)?),
            ColumnType::Double => Self::Doubles(elements(values)?),
            ColumnType::Text => Self::Texts(elements(values)?),
            ColumnType::Binary => Self::Binaries(elements(values)?),
            ColumnType::Other => return Err("no list can have this type".into()),
        })
    }
}

fn elements<T>(values: Vec<BindValue>) -> Result<Vec<Option<T>>, Cause>
where
    T: TryFrom<BindValue, Error = BindValue>,
{
    let element = |value: BindValue| match value {
        BindValue::Null(_) => Ok(None),
        value => T::try_from(value)
            .map(Some)
            .map_err(|value| format!("{value:?} is not of the type of its list").into()),
    };
    values.into_iter().map(element).collect()
}

macro_rules! elements {
    ($($rust:ty => $variant:ident,)*) => {$(
        impl TryFrom<BindValue> for $rust {
            type Error = BindValue;

            fn try_from(value: BindValue) -> Result<Self, BindValue> {
                match value {
                    BindValue::$variant(value) => Ok(value),
                    other => Err(other),
                }
            }
        }
    )*};
}

elements! {
    bool => Bool,
    i16 => SmallInt,
    i32 => Integer,
    i64 => BigInt,
    f64 => Double,
    String => Text,
    Vec<u8> => Binary,
}
