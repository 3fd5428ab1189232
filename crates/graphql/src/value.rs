//! Values that resolvers return.

use std::{any::Any, borrow::Cow, sync::Arc};

use time::{Date, OffsetDateTime, format_description::well_known::Rfc3339};

use crate::connection::Connection;

/// The value of a field, before the query's selection is applied to it.
///
/// Enum values are texts with the schema's names. Scalars are what clients expect of them: ids, times and large
/// numbers are texts.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// For scalars whose values have a form of their own.
    Json(serde_json::Value),
    List(Vec<Value>),
    Object(Object),
    Connection(Connection),
}

impl Value {
    /// A record whose fields are resolved by what is registered for the type.
    pub fn object<T: Send + Sync + 'static>(type_name: &'static str, record: Arc<T>) -> Self {
        Self::Object(Object { type_name: type_name.into(), content: Content::Record(record) })
    }

    /// An object with these fields and no others; its type needs no resolvers.
    pub fn fields<const N: usize>(
        type_name: &'static str,
        fields: [(&'static str, Value); N],
    ) -> Self {
        let fields = fields.map(|(name, value)| (Cow::Borrowed(name), value));
        Self::Object(Object::of_fields(type_name.into(), fields.into()))
    }

    /// A moment in UTC, to the second.
    pub fn time(at: OffsetDateTime) -> Self {
        let at = at.to_offset(time::UtcOffset::UTC);
        let whole = at.replace_nanosecond(0).unwrap_or(at);
        whole.format(&Rfc3339).map_or(Self::Null, Self::Text)
    }

    /// A day, as `YYYY-MM-DD`.
    pub fn date(day: Date) -> Self {
        let (year, month, day) = (day.year(), u8::from(day.month()), day.day());
        Self::Text(format!("{year:04}-{month:02}-{day:02}"))
    }

    /// A number that may not fit `Int`, as the scalar `BigInt` has it.
    pub fn big(number: impl std::fmt::Display) -> Self {
        Self::Text(number.to_string())
    }

    /// The global id of a record.
    pub fn gid(class: &str, id: impl std::fmt::Display) -> Self {
        Self::Text(gid(class, id))
    }

    pub fn list(values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// The global id of a record: `gid("Issue", 5)` is `gid://gitlab/Issue/5`.
pub fn gid(class: &str, id: impl std::fmt::Display) -> String {
    format!("gid://{}/{class}/{id}", crate::ids::APP)
}

/// An object of a concrete type.
#[derive(Clone)]
pub struct Object {
    pub(crate) type_name: Cow<'static, str>,
    pub(crate) content: Content,
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {{ … }}", self.type_name)
    }
}

/// The content of an object.
#[derive(Clone)]
pub(crate) enum Content {
    Record(Arc<dyn Any + Send + Sync>),
    Fields(Arc<Vec<(Cow<'static, str>, Value)>>),
    Connection(Arc<Connection>),
}

impl Object {
    pub(crate) fn of_fields(
        type_name: Cow<'static, str>,
        fields: Vec<(Cow<'static, str>, Value)>,
    ) -> Self {
        Self { type_name, content: Content::Fields(Arc::new(fields)) }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Int(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        Self::Json(json)
    }
}

impl From<OffsetDateTime> for Value {
    fn from(at: OffsetDateTime) -> Self {
        Self::time(at)
    }
}

impl From<Date> for Value {
    fn from(day: Date) -> Self {
        Self::date(day)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<Connection> for Value {
    fn from(connection: Connection) -> Self {
        Self::Connection(connection)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Self::list(values)
    }
}
