//! Values that come in: arguments and variables, in the form that the schema demands.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value as Json};

/// A file that came with a request.
#[derive(Debug)]
pub struct Upload {
    pub name: String,
    pub content_type: String,
    pub content: Bytes,
}

/// A value of an argument, or inside one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A text, or an enum value.
    Text(String),
    /// Of a scalar that takes any value.
    Json(Json),
    List(Vec<Input>),
    Object(Arc<Vec<(String, Input)>>),
    Upload(Arc<Upload>),
}

impl PartialEq for Upload {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.content == other.content
    }
}

impl Input {
    pub(crate) fn as_text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            // Ids may be written as numbers.
            Self::Int(number) => Some(number.to_string()),
            _ => None,
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(flag) => (*flag).into(),
            Self::Int(number) => (*number).into(),
            Self::Float(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::Json(json) => json.clone(),
            Self::List(elements) => elements.iter().map(Self::to_json).collect(),
            Self::Object(values) => {
                let values = values.iter().map(|(name, value)| (name.clone(), value.to_json()));
                Json::Object(Map::from_iter(values))
            }
            Self::Upload(upload) => upload.name.as_str().into(),
        }
    }
}
