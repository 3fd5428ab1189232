//! The value model of a configuration: what YAML's scalars, lists and mappings are read as.
//!
//! Lists and mappings are shared, not copied, and know their weight once everything in them is written out. A document
//! of a few lines that means gigabytes is found by asking for a number.

use std::{fmt, hash, sync::Arc};

use indexmap::Equivalent;

use super::ordered_map::OrderedMap;

/// What a value takes beside its letters: what parts it from the next one.
const SLOT: u64 = 2;

/// A key of a mapping. `10` and `"10"` are written alike and are two keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    text: Arc<str>,
    is_text: bool,
}

impl Key {
    pub fn text(text: Arc<str>) -> Self {
        Self { text, is_text: true }
    }

    /// A key that YAML does not read as text.
    pub fn other(text: &str) -> Self {
        Self { text: Arc::from(text), is_text: false }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn to_shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    pub fn is_text(&self) -> bool {
        self.is_text
    }
}

impl hash::Hash for Key {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        key.is_text && *key.text == *self
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(crate) type Entries = OrderedMap<Key, Node>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Map {
    entries: Entries,
    weight: u64,
}

impl Map {
    pub(crate) fn new(entries: Entries) -> Self {
        let weight = entries.iter().fold(SLOT, |sum, (key, value)| {
            sum.saturating_add(SLOT + length(key.text.len())).saturating_add(value.weight())
        });
        Self { entries, weight }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.get(key)
    }

    /// What stands there, unless that is nothing.
    pub(crate) fn present(&self, key: &str) -> Option<&Node> {
        self.get(key).filter(|value| !matches!(value, Node::Null))
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &Node)> {
        self.entries.iter()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries but that one.
    pub(crate) fn without(&self, key: &str) -> Self {
        let others = self.iter().filter(|(other, _)| !key.equivalent(*other));
        Self::new(others.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List {
    items: Vec<Node>,
    weight: u64,
}

impl List {
    pub(crate) fn new(items: Vec<Node>) -> Self {
        let weight = items.iter().fold(SLOT, |sum, item| sum.saturating_add(item.weight()));
        Self { items, weight }
    }

    pub(crate) fn items(&self) -> &[Node] {
        &self.items
    }
}

/// `!reference [job, key …]`, not yet looked up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub path: Vec<Node>,
}

/// A whole number. It lies at any multiple of eight bytes, or else each value would take a third more.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(Rust, packed(8))]
pub(crate) struct Integer(i128);

impl Integer {
    pub(crate) fn get(self) -> i128 {
        self.0
    }
}

/// A value. Equal values may stand in several places at the cost of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Node {
    #[default]
    Null,
    Bool(bool),
    Int(Integer),
    Float(f64),
    Text(Arc<str>),
    List(Arc<List>),
    Map(Arc<Map>),
    Reference(Arc<Reference>),
}

impl Node {
    pub(crate) fn of_int(value: i128) -> Self {
        Self::Int(Integer(value))
    }

    pub(crate) fn of_text(text: &str) -> Self {
        Self::Text(Arc::from(text))
    }

    pub(crate) fn of_list(items: Vec<Node>) -> Self {
        Self::List(Arc::new(List::new(items)))
    }

    pub(crate) fn of_map(entries: Entries) -> Self {
        Self::Map(Arc::new(Map::new(entries)))
    }

    /// About the letters it takes once aliases, references and templates are written out.
    pub(crate) fn weight(&self) -> u64 {
        match self {
            Self::Null | Self::Bool(_) | Self::Int(_) | Self::Float(_) => 2 * SLOT,
            Self::Text(text) => SLOT.saturating_add(length(text.len())),
            Self::List(list) => list.weight,
            Self::Map(map) => map.weight,
            Self::Reference(reference) => SLOT.saturating_mul(1 + length(reference.path.len())),
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        match self {
            Self::List(list) => Some(&list.items),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A scalar as it is written where text is wanted: numbers as YAML read them, nothing as empty text.
    pub(crate) fn scalar(&self) -> Option<String> {
        match self {
            Self::Null => Some(String::new()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Int(value) => Some(value.get().to_string()),
            Self::Float(value) => Some(number(*value)),
            Self::Text(text) => Some(text.to_string()),
            Self::List(_) | Self::Map(_) | Self::Reference(_) => None,
        }
    }

    /// Whether there is nothing in it: neither text beside blanks, nor an item, nor `true`.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Null | Self::Bool(false) => true,
            Self::Bool(true) | Self::Int(_) | Self::Float(_) | Self::Reference(_) => false,
            Self::Text(text) => text.trim().is_empty(),
            Self::List(list) => list.items.is_empty(),
            Self::Map(map) => map.is_empty(),
        }
    }
}

/// A fraction as it was always shown: `1.0`, `1.1`, `1.0e+20`.
pub(super) fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = value.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        return format!("{value:?}");
    }
    let short = format!("{value:e}");
    let (digits, power) = short.split_once('e').unwrap_or((&short, "0"));
    let digits = if digits.contains('.') { digits.to_owned() } else { format!("{digits}.0") };
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Entries, Key, Node, number};

    #[test]
    fn fractions_are_shown_in_the_short_form() {
        for (value, shown) in [
            (1.1, "1.1"),
            (1.0, "1.0"),
            (-0.5, "-0.5"),
            (0.0001, "0.0001"),
            (0.000_01, "1.0e-05"),
            (1e15, "1000000000000000.0"),
            (1e20, "1.0e+20"),
            (f64::INFINITY, "Infinity"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    #[test]
    fn a_number_and_its_text_are_two_keys() {
        let mut entries = Entries::default();
        entries.insert(Key::other("10"), Node::Null);
        entries.insert(Key::text("10".into()), Node::Bool(true));
        let Node::Map(map) = Node::of_map(entries) else { panic!() };

        assert_eq!(map.len(), 2);
        assert_eq!(map.get("10").and_then(Node::as_bool), Some(true));
    }

    #[test]
    fn what_is_shared_weighs_each_time() {
        let long = Node::of_text(&"x".repeat(1000));
        let pair = Node::of_list(vec![long.clone(), long.clone()]);

        assert!(pair.weight() > 2 * 1000);
    }
}
