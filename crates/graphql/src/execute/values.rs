//! The values of fields that no resolver gives, and leaves in the form of their types.

use std::borrow::Cow;

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::Value as Json;

use super::ValueResult;
use crate::{
    connection::Connection,
    document::Type,
    engine::Engine,
    failure::Failure,
    model::{Model, TypeModel},
    payload::Payload,
    value::{Object, Value},
};

/// The value of a field, or what will have it.
pub(super) enum Start {
    Now(ValueResult),
    Later(BoxFuture<'static, ValueResult>),
}

impl From<Value> for Start {
    fn from(value: Value) -> Self {
        Self::Now(Ok(value))
    }
}

impl From<Failure> for Start {
    fn from(failure: Failure) -> Self {
        Self::Now(Err(failure))
    }
}

fn page_info(connection: &Connection) -> Value {
    let cursor =
        |row: Option<&(crate::Cursor, Value)>| Value::from(row.map(|(cursor, _)| cursor.as_str()));
    Value::fields(
        "PageInfo",
        [
            ("startCursor", cursor(connection.rows.first())),
            ("endCursor", cursor(connection.rows.last())),
            ("hasNextPage", connection.has_next.into()),
            ("hasPreviousPage", connection.has_previous.into()),
        ],
    )
}

pub(super) fn payload_object(
    type_name: String,
    payload: Payload,
    client: Option<String>,
) -> Object {
    let mut fields = payload.fields;
    fields.push(("errors".into(), payload.errors.into()));
    fields.push(("clientMutationId".into(), client.into()));
    Object::of_fields(Cow::Owned(type_name), fields)
}

/// What stands for what does not exist here.
pub(super) fn nothing<C>(engine: &Engine<C>, kind: &Type) -> Value {
    let is_required = kind.is_non_null();
    match kind.nullable() {
        Type::List(_) => Value::List(Vec::new()),
        Type::Named(name) if engine.model.find(name).is_some_and(TypeModel::is_connection) => {
            Value::Connection(Connection::empty())
        }
        Type::Named(name) if is_required => match name.as_str() {
            "Boolean" => Value::Bool(false),
            "Int" | "Float" => Value::Int(0),
            "BigInt" => Value::big(0),
            "String" => Value::Text(String::new()),
            _ => Value::Null,
        },
        Type::Named(_) | Type::NonNull(_) => Value::Null,
    }
}

/// A leaf in the form of its type; without a failure where it has none.
pub(super) fn leaf_json(leaf: Value, name: &str) -> Result<Json, Option<Failure>> {
    Ok(match (name, leaf) {
        ("Int", Value::Int(number)) => match i32::try_from(number) {
            Ok(number) => number.into(),
            Err(_) => {
                return Err(Some(Failure::Message(format!(
                    "Integer out of bounds: {number}. Consider using ID or BigInt instead."
                ))));
            }
        },
        ("Boolean", Value::Bool(flag)) => flag.into(),
        ("Int" | "Boolean", _) => return Err(None),
        ("Float" | "Duration", Value::Int(number)) => {
            serde_json::Number::from(number).as_f64().ok_or(None)?.into()
        }
        ("BigInt" | "ID", Value::Int(number)) => number.to_string().into(),
        (_, Value::Int(number)) => number.into(),
        (_, Value::Bool(flag)) => flag.into(),
        (_, Value::Float(number)) => number.into(),
        (_, Value::Text(text)) => text.into(),
        (_, Value::Json(json)) => json,
        _ => return Err(None),
    })
}

/// A field of a page of a list.
pub(super) fn of_connection(
    model: &Model,
    connection: &Connection,
    on: &TypeModel,
    field: &str,
) -> Start {
    let rows = || connection.rows.iter();
    match field {
        "nodes" => Value::List(rows().map(|(_, value)| value.clone()).collect()).into(),
        "edges" => {
            let edge = model.field(on, field);
            let edge = edge.map_or_else(String::new, |edge| edge.kind.name().to_owned());
            let edges = rows().map(|(cursor, value)| {
                let fields =
                    vec![("cursor".into(), cursor.as_str().into()), ("node".into(), value.clone())];
                Value::Object(Object::of_fields(Cow::Owned(edge.clone()), fields))
            });
            Value::List(edges.collect()).into()
        }
        "pageInfo" => page_info(connection).into(),
        other => {
            let known = connection.fields.iter().find(|(name, _)| name == other);
            match (known, connection.later(other)) {
                (Some((_, value)), _) => value.clone().into(),
                (None, Some(later)) => Start::Later(later.boxed()),
                // What is the whole list has been counted.
                (None, None) if other == "count" && connection.is_whole() => {
                    Value::from(connection.rows.len()).into()
                }
                (None, None) => {
                    Failure::internal(format!("{}.{other} was not given", on.name)).into()
                }
            }
        }
    }
}
