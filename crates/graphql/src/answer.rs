//! The answer to a plan, while it comes together: fields get their values in any order.

use serde_json::{Map, Value as Json};

use crate::{error::QueryError, request::Outcome};

/// The answer to a plan.
pub(crate) struct Answer {
    /// An object, or null.
    pub(crate) data: Json,
    pub(crate) errors: Vec<QueryError>,
    /// How the request as a whole went, where that is not as usual.
    pub(crate) outcome: Option<Outcome>,
}

/// The way from a value to one within it.
#[derive(Clone, Copy)]
pub(crate) enum Step<'p> {
    Root,
    /// A field, by the name that it has in the answer.
    Key(&'p str),
    /// An element of a list, from zero.
    Element(usize),
}

/// The state of a value.
pub(crate) enum Content<'p> {
    Null,
    Leaf(Json),
    Object(Vec<Entry<'p>>),
    List {
        cells: Vec<usize>,
        /// Whether an element that is null makes the list null.
        is_required: bool,
    },
}

/// A field of an object.
pub(crate) struct Entry<'p> {
    pub(crate) key: &'p str,
    pub(crate) cell: usize,
    /// Whether the object is null where the field is.
    pub(crate) is_required: bool,
}

struct Cell<'p> {
    outer: usize,
    step: Step<'p>,
    content: Content<'p>,
}

/// The values of an answer by number, null until they are set.
#[derive(Default)]
pub(crate) struct Cells<'p>(Vec<Cell<'p>>);

impl<'p> Cells<'p> {
    pub(crate) fn root(&mut self) -> usize {
        self.add(0, Step::Root)
    }

    /// A value within another.
    pub(crate) fn add(&mut self, outer: usize, step: Step<'p>) -> usize {
        self.0.push(Cell { outer, step, content: Content::Null });
        self.0.len() - 1
    }

    pub(crate) fn set(&mut self, cell: usize, content: Content<'p>) {
        if let Some(cell) = self.0.get_mut(cell) {
            cell.content = content;
        }
    }

    /// Names of fields and numbers of elements from the root to a value.
    pub(crate) fn path(&self, cell: usize) -> Vec<Json> {
        let mut path = Vec::new();
        let mut next = self.0.get(cell);
        while let Some(cell) = next {
            match cell.step {
                Step::Root => break,
                Step::Key(key) => path.push(key.into()),
                Step::Element(number) => path.push(number.into()),
            }
            next = self.0.get(cell.outer);
        }
        path.reverse();
        path
    }

    /// A value with all that is within it.
    pub(crate) fn json(mut self, cell: usize) -> Json {
        self.take(cell)
    }

    fn take(&mut self, cell: usize) -> Json {
        let Some(cell) = self.0.get_mut(cell) else { return Json::Null };
        match std::mem::replace(&mut cell.content, Content::Null) {
            Content::Null => Json::Null,
            Content::Leaf(json) => json,
            Content::Object(entries) => self.object(entries),
            Content::List { cells, is_required } => {
                let elements: Vec<Json> = cells.into_iter().map(|cell| self.take(cell)).collect();
                match is_required && elements.iter().any(Json::is_null) {
                    true => Json::Null,
                    false => Json::Array(elements),
                }
            }
        }
    }

    fn object(&mut self, entries: Vec<Entry<'p>>) -> Json {
        let mut object = Map::with_capacity(entries.len());
        for Entry { key, cell, is_required } in entries {
            let value = self.take(cell);
            if value.is_null() && is_required {
                return Json::Null;
            }
            match object.get_mut(key) {
                Some(known) => merge(known, value),
                None => drop(object.insert(key.to_owned(), value)),
            }
        }
        Json::Object(object)
    }
}

/// Adds the selection of another fragment to the same value.
fn merge(known: &mut Json, more: Json) {
    match (known, more) {
        (Json::Object(known), Json::Object(more)) => {
            for (key, value) in more {
                match known.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => drop(known.insert(key, value)),
                }
            }
        }
        (Json::Array(known), Json::Array(more)) => {
            for (known, more) in known.iter_mut().zip(more) {
                merge(known, more);
            }
        }
        _ => {}
    }
}
