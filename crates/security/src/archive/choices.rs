//! Values of enum and JSON columns.

use serde::de::DeserializeOwned;

/// Bytes of the longest list.
const LONGEST_LIST: usize = 2 << 20;

/// Whether a text is a JSON list of such values.
pub(super) fn is_list_of<T: DeserializeOwned>(text: &str) -> bool {
    text.len() <= LONGEST_LIST && serde_json::from_str::<Vec<T>>(text).is_ok()
}
