//! Why a value has no JSON text.

use std::fmt;

/// Why a value has no JSON text.
#[derive(Debug)]
pub struct JsonError(Box<str>);

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JsonError {}

impl serde::ser::Error for JsonError {
    fn custom<T: fmt::Display>(cause: T) -> Self {
        Self(cause.to_string().into())
    }
}
