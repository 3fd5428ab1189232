//! The arguments of a field, or the fields of an input object.

use std::sync::Arc;

use crate::{
    failure::Failure,
    ids,
    input::{Input, Upload},
    page::{PAGE_LIMIT, Page},
    selection::Selection,
};

/// Arguments, checked against the schema: of the right types, required ones there, defaults filled in.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub(crate) values: Arc<Vec<(String, Input)>>,
    pub(crate) selection: Arc<Selection>,
    pub(crate) cost: Cost,
}

/// The cost of a query, and its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub score: u32,
    pub limit: u32,
}

impl Arguments {
    fn value(&self, name: &str) -> Option<&Input> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The value, unless it is null.
    fn given(&self, name: &str) -> Option<&Input> {
        self.value(name).filter(|value| !matches!(value, Input::Null))
    }

    /// The same values, some of them under other names, also in input objects among them: `(from, to)`.
    #[must_use]
    pub fn renamed(&self, names: &[(&str, &str)]) -> Self {
        let renamed = |(name, value): &(String, Input)| {
            let to = names.iter().find(|(from, _)| from == name).map(|(_, to)| (*to).to_owned());
            let value = match self.nested(value) {
                Some(object) => Input::Object(object.renamed(names).values),
                None => value.clone(),
            };
            (to.unwrap_or_else(|| name.clone()), value)
        };
        Self { values: Arc::new(self.values.iter().map(renamed).collect()), ..self.clone() }
    }

    /// Whether the argument was given, be it null.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// A text or an enum value.
    ///
    /// # Errors
    /// When it is not there, which the schema should not allow.
    pub fn text(&self, name: &str) -> Result<String, Failure> {
        self.maybe_text(name).ok_or_else(|| missing(name))
    }

    pub fn maybe_text(&self, name: &str) -> Option<String> {
        self.given(name).and_then(Input::as_text)
    }

    pub fn maybe_enum(&self, name: &str) -> Option<String> {
        self.maybe_text(name)
    }

    pub fn maybe_bool(&self, name: &str) -> Option<bool> {
        match self.given(name) {
            Some(Input::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// Whether it is there and true.
    pub fn flag(&self, name: &str) -> bool {
        self.maybe_bool(name).unwrap_or_default()
    }

    /// # Errors
    /// When it is not there, which the schema should not allow.
    pub fn int(&self, name: &str) -> Result<i64, Failure> {
        self.maybe_int(name).ok_or_else(|| missing(name))
    }

    pub fn maybe_int(&self, name: &str) -> Option<i64> {
        match self.given(name) {
            Some(Input::Int(number)) => Some(*number),
            Some(Input::Text(text)) => text.parse().ok(),
            _ => None,
        }
    }

    pub fn maybe_float(&self, name: &str) -> Option<f64> {
        match self.given(name) {
            Some(Input::Float(number)) => Some(*number),
            // Exact for all that the language's `Int` can hold.
            Some(Input::Int(number)) => i32::try_from(*number).ok().map(f64::from),
            _ => None,
        }
    }

    /// The value as JSON.
    pub fn json(&self, name: &str) -> Option<serde_json::Value> {
        self.given(name).map(Input::to_json)
    }

    fn elements(&self, name: &str) -> Option<&[Input]> {
        match self.given(name) {
            Some(Input::List(elements)) => Some(elements),
            Some(other) => Some(std::slice::from_ref(other)),
            None => None,
        }
    }

    /// The texts, or enum values, of a list; none where it was not given.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.maybe_texts(name).unwrap_or_default()
    }

    /// As [`Arguments::texts`]; tells an empty list from none.
    pub fn maybe_texts(&self, name: &str) -> Option<Vec<String>> {
        Some(self.elements(name)?.iter().filter_map(Input::as_text).collect())
    }

    pub fn ints(&self, name: &str) -> Vec<i64> {
        let elements = self.elements(name).unwrap_or_default().iter();
        let ints = elements.filter_map(|element| match element {
            Input::Int(number) => Some(*number),
            _ => None,
        });
        ints.collect()
    }

    fn nested(&self, value: &Input) -> Option<Self> {
        match value {
            Input::Object(values) => Some(Self { values: values.clone(), ..self.clone() }),
            _ => None,
        }
    }

    /// An input object.
    pub fn object(&self, name: &str) -> Option<Self> {
        self.given(name).and_then(|value| self.nested(value))
    }

    /// The input objects of a list.
    pub fn objects(&self, name: &str) -> Vec<Self> {
        let elements = self.elements(name).unwrap_or_default().iter();
        elements.filter_map(|value| self.nested(value)).collect()
    }

    /// The number in a global id of one of the classes.
    ///
    /// # Errors
    /// For a text that is none, or of another class, or when it is not there.
    pub fn gid(&self, name: &str, classes: &[&str]) -> Result<i64, Failure> {
        ids::number_of(&self.text(name)?, classes)
    }

    /// As [`Arguments::gid`]; nothing where it was not given.
    ///
    /// # Errors
    /// For a text that is no global id of these classes.
    pub fn maybe_gid(&self, name: &str, classes: &[&str]) -> Result<Option<i64>, Failure> {
        self.maybe_text(name).map(|text| ids::number_of(&text, classes)).transpose()
    }

    /// The numbers in a list of global ids; empty where it was not given.
    ///
    /// # Errors
    /// For a text that is no global id of these classes.
    pub fn gids(&self, name: &str, classes: &[&str]) -> Result<Vec<i64>, Failure> {
        self.texts(name).iter().map(|text| ids::number_of(text, classes)).collect()
    }

    /// The class and the id of a global id.
    ///
    /// # Errors
    /// For a text that is none, or when it is not there.
    pub fn any_gid(&self, name: &str) -> Result<(String, String), Failure> {
        ids::parse_gid(&self.text(name)?)
    }

    /// The page that a list's usual arguments ask for, of 100 elements at most.
    ///
    /// # Errors
    /// For arguments that contradict each other, and cursors that nobody was given.
    pub fn page(&self) -> Result<Page, Failure> {
        self.page_up_to(PAGE_LIMIT)
    }

    /// As [`Arguments::page`], of as many elements at most.
    ///
    /// # Errors
    /// As those of [`Arguments::page`].
    pub fn page_up_to(&self, most: usize) -> Result<Page, Failure> {
        Page::read(self, most)
    }

    /// A file that came with the request.
    pub fn upload(&self, name: &str) -> Option<Arc<Upload>> {
        match self.given(name) {
            Some(Input::Upload(upload)) => Some(upload.clone()),
            _ => None,
        }
    }

    /// The files of a list that came with the request.
    pub fn uploads(&self, name: &str) -> Vec<Arc<Upload>> {
        let elements = self.elements(name).unwrap_or_default().iter();
        let uploads = elements.filter_map(|element| match element {
            Input::Upload(upload) => Some(upload.clone()),
            _ => None,
        });
        uploads.collect()
    }

    /// Whether the query selects something below this field: `nodes.commit`. Edges count as nodes.
    pub fn selects(&self, path: &str) -> bool {
        self.selection.selects(path)
    }

    /// Whether the query wants the connection's `count`.
    pub fn counts(&self) -> bool {
        self.selects("count")
    }

    /// What the query costs, and may cost.
    pub fn cost(&self) -> Cost {
        self.cost
    }
}

fn missing(name: &str) -> Failure {
    Failure::Message(format!("Argument '{name}' is required."))
}
