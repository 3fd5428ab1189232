//! Single values out of a report.

use serde_json::Value;

/// A text that is not blank.
pub(super) fn text<'v>(of: &'v Value, name: &str) -> Option<&'v str> {
    of.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

/// The same, cut to so many signs.
pub(super) fn bounded(of: &Value, name: &str, most: usize) -> Option<String> {
    text(of, name).map(|text| cut(text, most))
}

pub(super) fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// A text or a number, written out; nothing for anything else.
pub(super) fn written(of: &Value, name: &str) -> String {
    match of.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Takes away the one sign that no database keeps; whether there was any.
pub(super) fn strip_zeros(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let has_any = text.contains('\0');
            if has_any {
                text.retain(|sign| sign != '\0');
            }
            has_any
        }
        // Each is to be seen, not only the first.
        Value::Array(all) => {
            let mut has_any = false;
            for one in all {
                has_any |= strip_zeros(one);
            }
            has_any
        }
        Value::Object(all) => {
            let mut has_any = all.keys().any(|name| name.contains('\0'));
            if has_any {
                all.retain(|name, _| !name.contains('\0'));
            }
            for one in all.values_mut() {
                has_any |= strip_zeros(one);
            }
            has_any
        }
        _ => false,
    }
}
