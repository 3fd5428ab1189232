//! The part of a list that a query asks for: `first`, `last`, `after` and `before`.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{arguments::Arguments, failure::Failure};

/// How many elements a page holds, unless a field says otherwise.
pub const PAGE_LIMIT: usize = 100;

/// The place of an element in its list; opaque to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    /// Of the values by which the list is ordered: an object of texts.
    pub fn of(keys: &impl Serialize) -> Self {
        Self(URL_SAFE_NO_PAD.encode(serde_json::to_vec(keys).unwrap_or_default()))
    }

    /// Of the values by which the list is ordered, by name.
    pub fn keys<const N: usize>(keys: [(&str, String); N]) -> Self {
        let keys = keys.map(|(name, value)| (name.to_owned(), Json::String(value)));
        Self::of(&serde_json::Map::from_iter(keys))
    }

    /// Of an element's number in its list, from 1.
    pub fn at(number: u64) -> Self {
        Self(URL_SAFE_NO_PAD.encode(number.to_string()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A cursor that a client sent.
#[derive(Clone, Debug)]
enum Position {
    At(u64),
    Keys(Json),
}

impl Position {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim_end_matches('=');
        let bytes = URL_SAFE_NO_PAD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text)).ok()?;
        match serde_json::from_slice(&bytes).ok()? {
            Json::Number(number) => Some(Self::At(number.as_u64()?)),
            Json::Object(keys) if keys.values().all(is_storable) => {
                Some(Self::Keys(Json::Object(keys)))
            }
            _ => None,
        }
    }
}

/// Whether a database can keep such a text: none does with a zero byte.
fn is_storable(value: &Json) -> bool {
    value.as_str().is_some_and(|text| !text.contains('\0'))
}

/// The part of a list that a query asks for.
#[derive(Clone, Debug)]
pub struct Page {
    first: Option<usize>,
    last: Option<usize>,
    after: Option<Position>,
    before: Option<Position>,
    most: usize,
}

impl Page {
    /// # Errors
    /// For both `first` and `last`, numbers below zero, and cursors that nobody was given.
    pub(crate) fn read(arguments: &Arguments, most: usize) -> Result<Self, Failure> {
        let (first, last) = (arguments.maybe_int("first"), arguments.maybe_int("last"));
        if first.is_some() && last.is_some() {
            return Err(Failure::message("Can only provide either `first` or `last`, not both"));
        }
        let place = |name: &str| match arguments.maybe_text(name) {
            None => Ok(None),
            Some(text) if text.is_empty() => Ok(None),
            Some(text) => Position::read(&text).map(Some).ok_or_else(Failure::cursor),
        };
        Ok(Self {
            first: size(first, "first")?,
            last: size(last, "last")?,
            after: place("after")?,
            before: place("before")?,
            most,
        })
    }

    /// The first elements of a list, up to the usual limit.
    pub fn beginning() -> Self {
        Self { first: None, last: None, after: None, before: None, most: PAGE_LIMIT }
    }

    /// As many elements of a list that begins and ends where this page's cursors say.
    #[must_use]
    pub fn without_cursors(&self) -> Self {
        Self { after: None, before: None, ..self.clone() }
    }

    /// As many elements from the beginning of such a list that is read from its end.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { first: self.first.or(self.last), last: None, ..self.without_cursors() }
    }

    /// How many elements the page holds at most. Ask for one more to know whether the list goes on.
    pub fn limit(&self) -> usize {
        self.first.or(self.last).unwrap_or(PAGE_LIMIT).min(self.most)
    }

    /// Whether the page is counted from its end: `last` was given.
    pub fn backwards(&self) -> bool {
        self.last.is_some()
    }

    /// Whether it is the beginning of a list: no cursors are given, and it is not counted from the end.
    pub fn is_first(&self) -> bool {
        !self.has_after() && !self.has_before() && !self.backwards()
    }

    /// How many elements stand before the page, where the list is paged by numbers. With `last` and no `before`, only
    /// [`Page::offset_within`] knows it.
    pub fn offset(&self) -> u64 {
        let after = self.number_after();
        match (self.last, self.number_before()) {
            (Some(_), Some(before)) => {
                before.saturating_sub(1).saturating_sub(self.limit_as_number()).max(after)
            }
            _ => after,
        }
    }

    /// As [`Page::offset`], of a list with so many elements in all.
    pub fn offset_within(&self, total: u64) -> u64 {
        match (self.last, self.number_before()) {
            (Some(_), None) => {
                total.saturating_sub(self.limit_as_number()).max(self.number_after()).min(total)
            }
            _ => self.offset().min(total),
        }
    }

    /// The number of the element that the page ends before.
    pub(crate) fn number_before(&self) -> Option<u64> {
        match self.before {
            Some(Position::At(number)) => Some(number),
            _ => None,
        }
    }

    fn number_after(&self) -> u64 {
        match self.after {
            Some(Position::At(number)) => number,
            _ => 0,
        }
    }

    fn limit_as_number(&self) -> u64 {
        u64::try_from(self.limit()).unwrap_or(u64::MAX)
    }

    /// Whether a cursor was given that is of no list that is paged by numbers.
    pub(crate) fn has_keys(&self) -> bool {
        [&self.after, &self.before].iter().any(|place| matches!(place, Some(Position::Keys(_))))
    }

    pub(crate) fn has_after(&self) -> bool {
        self.after.is_some()
    }

    pub(crate) fn has_before(&self) -> bool {
        self.before.is_some()
    }

    /// The values of the element that the page begins behind.
    ///
    /// # Errors
    /// For a cursor of another kind of list.
    pub fn after<K: DeserializeOwned>(&self) -> Result<Option<K>, Failure> {
        keys(self.after.as_ref())
    }

    /// The values of the element that the page ends before.
    ///
    /// # Errors
    /// For a cursor of another kind of list.
    pub fn before<K: DeserializeOwned>(&self) -> Result<Option<K>, Failure> {
        keys(self.before.as_ref())
    }
}

fn size(given: Option<i64>, name: &str) -> Result<Option<usize>, Failure> {
    given
        .map(|size| {
            usize::try_from(size).map_err(|_cause| {
                Failure::Message(format!("`{name}` must be a non-negative number"))
            })
        })
        .transpose()
}

fn keys<K: DeserializeOwned>(place: Option<&Position>) -> Result<Option<K>, Failure> {
    match place {
        None => Ok(None),
        Some(Position::At(_)) => Err(Failure::cursor()),
        Some(Position::Keys(keys)) => {
            K::deserialize(keys).map(Some).map_err(|_cause| Failure::cursor())
        }
    }
}
