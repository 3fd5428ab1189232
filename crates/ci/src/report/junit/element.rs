//! An element of XML as a value: its text when it has any, else its children and attributes.

use serde_json::{Map, Number, Value};

/// An XML element.
#[derive(Default)]
pub(super) struct Element {
    attributes: Map<String, Value>,
    children: Map<String, Value>,
    text: String,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name)?.as_str()
    }

    pub(super) fn add_attribute(&mut self, name: &str, value: String) {
        self.attributes.insert(key(name), Value::String(value));
    }

    /// A second child of a name makes a list of both.
    pub(super) fn add_child(&mut self, name: &str, value: Value) {
        match self.children.entry(key(name)) {
            serde_json::map::Entry::Vacant(place) => {
                place.insert(value);
            }
            serde_json::map::Entry::Occupied(mut place) => match place.get_mut() {
                Value::Array(list) => list.push(value),
                one => *one = Value::Array(vec![std::mem::take(one), value]),
            },
        }
    }

    pub(super) fn add_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn text_length(&self) -> usize {
        self.text.len()
    }

    /// Whether it has text beside blanks, which hides all else in it.
    pub(super) fn is_text(&self) -> bool {
        !self.text.trim().is_empty()
    }

    pub(super) fn value(self) -> Value {
        let kind = self.attribute("type").map(str::to_owned);
        if self.is_text() {
            return typed(kind.as_deref(), self.text);
        }
        let bare = self.children.is_empty() && self.attributes.is_empty();
        if bare && !self.text.is_empty() {
            return Value::String(self.text);
        }
        let only_type = self.children.is_empty() && self.attributes.len() == 1 && kind.is_some();
        if bare || only_type || self.attribute("nil") == Some("true") {
            return Value::Null;
        }
        let mut fields = self.children;
        fields.extend(self.attributes);
        Value::Object(fields)
    }
}

fn key(name: &str) -> String {
    name.replace('-', "_")
}

/// A text as its element says that it is to be read.
fn typed(kind: Option<&str>, text: String) -> Value {
    match kind {
        Some("integer") => whole(&text).map_or(Value::from(0), Value::from),
        Some("float" | "double") => {
            Number::from_f64(number(&text)).map_or(Value::Null, Value::Number)
        }
        Some("boolean") => Value::Bool(matches!(text.trim(), "1" | "true")),
        _ => Value::String(text),
    }
}

fn whole(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
    text[..text.len() - digits.len() + end].parse().ok()
}

/// The number that a text begins with: `1,234.5` is 1, `abc` is 0.
pub(super) fn number(text: &str) -> f64 {
    let text = text.trim_start();
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let start = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut end = digits(start);
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if end > start && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = matches!(bytes.get(end + 1), Some(b'-' | b'+'));
        let power = end + 1 + usize::from(signed);
        if digits(power) > power {
            end = digits(power);
        }
    }
    let value: f64 = text[..end].parse().unwrap_or(0.0);
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Element, number};

    #[test]
    fn a_number_is_read_as_far_as_it_is_one() {
        for (text, value) in [
            ("1.25", 1.25),
            ("1,234.5", 1.0),
            ("abc", 0.0),
            ("", 0.0),
            (" -2", -2.0),
            (".5", 0.5),
            ("1e3x", 1000.0),
            ("1e", 1.0),
            ("1.", 1.0),
            ("1e999", 0.0),
            ("é", 0.0),
        ] {
            assert!((number(text) - value).abs() < f64::EPSILON, "{text}");
        }
    }

    fn value(kind: &str, text: &str) -> Value {
        let mut element = Element::default();
        element.add_attribute("type", kind.to_owned());
        element.add_text(text);
        element.value()
    }

    #[test]
    fn a_type_says_how_text_is_read() {
        assert_eq!(value("integer", "12 apples"), json!(12));
        assert_eq!(value("float", "1.5"), json!(1.5));
        assert_eq!(value("boolean", " true "), json!(true));
        assert_eq!(value("AssertionError", "x"), json!("x"));
        assert_eq!(value("AssertionError", " "), json!(null));
    }

    #[test]
    fn children_of_one_name_are_a_list() {
        let mut element = Element::default();
        for text in ["a", "b", "c"] {
            element.add_child("system-out", json!(text));
        }

        assert_eq!(element.value(), json!({"system_out": ["a", "b", "c"]}));
    }
}
