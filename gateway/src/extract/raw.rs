//! Parameters as they came, before anybody declared what they are: query, form, multipart and JSON in one tree.

use forge::files::Upload;
use indexmap::IndexMap;
use serde_json::Value;

/// One value of a request.
#[derive(Clone, Debug)]
pub enum Raw {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    /// What is no UTF-8: names and contents of files.
    Bytes(Vec<u8>),
    List(Vec<Raw>),
    Map(RawMap),
    File(Upload),
    /// The content of a file, given for what is no file.
    Attached(Vec<u8>),
}

/// Names and values, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct RawMap(IndexMap<String, Raw>);

impl RawMap {
    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.0.get(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a value; a later one replaces an earlier one.
    pub fn set(&mut self, name: &str, value: Raw) {
        self.0.insert(name.to_owned(), value);
    }

    /// Everything in `other` is set here too, and wins.
    pub fn merge(&mut self, other: RawMap) {
        for (name, value) in other.0 {
            self.set(&name, value);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Raw::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Adds a pair of a query or form, where `a[]`, `a[b]` and `a[0][b]` build lists and maps.
    pub fn add_pair(&mut self, name: &str, value: Raw) {
        let (head, keys) = split_name(name);
        match keys.split_first() {
            None => self.set(&head, value),
            Some((first, rest)) => {
                if !self.has(&head) {
                    self.set(
                        &head,
                        if first.is_empty() {
                            Raw::List(Vec::new())
                        } else {
                            Raw::Map(Self::default())
                        },
                    );
                }
                if let Some(slot) = self.0.get_mut(&head) {
                    add_into(slot, first, rest, value);
                }
            }
        }
    }

    /// From a JSON object; any other JSON has no names and gives nothing.
    pub fn from_json(value: Value) -> Self {
        match Raw::from_json(value) {
            Raw::Map(map) => map,
            _ => Self::default(),
        }
    }
}

impl Raw {
    /// Text, where it is text.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(raw) => Self::Bytes(raw.into_bytes()),
        }
    }

    fn from_json(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(value) => Self::Number(value),
            Value::String(value) => Self::Text(value),
            Value::Array(values) => Self::List(values.into_iter().map(Self::from_json).collect()),
            Value::Object(map) => Self::Map(RawMap(
                map.into_iter().map(|(name, value)| (name, Self::from_json(value))).collect(),
            )),
        }
    }

    /// As one or more pairs of a query string; files and bytes have none.
    pub fn pairs(&self, name: &str, out: &mut Vec<(String, String)>) {
        match self {
            Self::Null => out.push((name.to_owned(), String::new())),
            Self::Bool(value) => out.push((name.to_owned(), value.to_string())),
            Self::Number(value) => out.push((name.to_owned(), value.to_string())),
            Self::Text(value) => out.push((name.to_owned(), value.clone())),
            Self::List(values) => {
                values.iter().for_each(|value| value.pairs(&format!("{name}[]"), out))
            }
            Self::Map(map) => {
                map.iter().for_each(|(key, value)| value.pairs(&format!("{name}[{key}]"), out))
            }
            Self::Bytes(_) | Self::File(_) | Self::Attached(_) => {}
        }
    }
}

/// `a[b][]` is `a` with the keys `b` and nothing. A name that is not well formed is taken as it is.
pub(super) fn split_name(name: &str) -> (String, Vec<String>) {
    let Some((head, tail)) = name.split_once('[') else { return (name.to_owned(), Vec::new()) };
    let Some(tail) = tail.strip_suffix(']') else { return (name.to_owned(), Vec::new()) };
    if head.is_empty() || tail.matches("][").count() > 8 {
        return (name.to_owned(), Vec::new());
    }
    (head.to_owned(), tail.split("][").map(str::to_owned).collect())
}

fn add_into(slot: &mut Raw, key: &str, rest: &[String], value: Raw) {
    if key.is_empty() {
        if let Raw::List(list) = slot {
            add_to_list(list, rest, value);
        }
        return;
    }
    // `p[0][k]` addresses the elements of a list by position; a map with numeric keys becomes one on reading.
    let Raw::Map(map) = slot else { return };
    match rest.split_first() {
        None => map.set(key, value),
        Some((next, rest)) => {
            if !map.has(key) {
                map.set(
                    key,
                    if next.is_empty() {
                        Raw::List(Vec::new())
                    } else {
                        Raw::Map(RawMap::default())
                    },
                );
            }
            if let Some(inner) = map.0.get_mut(key) {
                add_into(inner, next, rest, value);
            }
        }
    }
}

/// `p[][k]=v&p[][l]=w`: a key that the last element already has begins the next one.
fn add_to_list(list: &mut Vec<Raw>, rest: &[String], value: Raw) {
    let Some((next, rest)) = rest.split_first() else {
        list.push(value);
        return;
    };
    let open = matches!(list.last(), Some(Raw::Map(map)) if !map.has(next) || !rest.is_empty());
    if !open {
        list.push(Raw::Map(RawMap::default()));
    }
    if let Some(last) = list.last_mut() {
        add_into(last, next, rest, value);
    }
}
