//! Values as JSON, for what is kept as it was written.

use serde_json::{Map, Number, Value};

use super::node::{Node, number};

pub(super) fn value(node: &Node) -> Value {
    match node {
        Node::Null | Node::Reference(_) => Value::Null,
        Node::Bool(value) => Value::Bool(*value),
        Node::Int(value) => i64::try_from(value.get()).map_or_else(
            |_| Value::String(value.get().to_string()),
            |value| Value::Number(value.into()),
        ),
        Node::Float(value) => {
            Number::from_f64(*value).map_or_else(|| Value::String(number(*value)), Value::Number)
        }
        Node::Text(text) => Value::String(text.to_string()),
        Node::List(list) => Value::Array(list.items().iter().map(self::value).collect()),
        Node::Map(map) => Value::Object(
            map.iter()
                .map(|(key, node)| (key.to_string(), self::value(node)))
                .collect::<Map<_, _>>(),
        ),
    }
}
