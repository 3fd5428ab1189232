//! Values of enums under the names that the schema gives them.

use graphql::Value;
use kernel::TextEnum;

/// The name of a value in the schema: `running` is `RUNNING`.
pub fn name_of(value: impl TextEnum) -> Value {
    value.as_str().to_uppercase().into()
}

/// The values that the schema's names stand for; names that nothing here has are left out.
pub fn values_of<T: TextEnum>(names: &[String]) -> Vec<T> {
    names.iter().filter_map(|name| T::find(&name.to_lowercase())).collect()
}

/// As [`values_of`], for one name.
pub fn value_of<T: TextEnum>(name: Option<String>) -> Option<T> {
    name.and_then(|name| T::find(&name.to_lowercase()))
}
