//! Every application setting as one row of data: name, type, default, bounds, secrecy, and whether Forgeway acts by it.
//!
//! Settings that are fields of [`Settings`] have their default there. The others live in the same JSON object,
//! and are read by name.

mod alias;
mod bounds;
mod ci;
mod form;
mod instance;
mod integration;
mod limits;
mod paid;
mod people;
mod projects;
mod registry;
mod throttles;

use std::{collections::HashMap, sync::LazyLock};

use serde_json::Value;

pub use alias::{ALIASES, Alias, EXCLUSIVE, Translation, find as find_alias};
pub use bounds::check;
pub(super) use bounds::url_fault;
pub use form::{Form, Preset, Secrecy, Setting};
pub use people::LONGEST_DORMANT_DAYS;

use super::Settings;

/// All rows, by subject.
pub const GROUPS: [&[Setting]; 9] = [
    ci::ROWS,
    instance::ROWS,
    integration::ROWS,
    limits::ROWS,
    paid::ROWS,
    people::ROWS,
    projects::ROWS,
    registry::ROWS,
    throttles::ROWS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Setting>> =
    LazyLock::new(|| all().map(|setting| (setting.name, setting)).collect());

static TYPED_DEFAULTS: LazyLock<Value> =
    LazyLock::new(|| serde_json::to_value(Settings::default()).unwrap_or_default());

static DEFAULTS: LazyLock<HashMap<&'static str, Value>> =
    LazyLock::new(|| all().map(|setting| (setting.name, preset(setting))).collect());

pub fn all() -> impl Iterator<Item = &'static Setting> {
    GROUPS.into_iter().flatten()
}

pub fn find(name: &str) -> Option<&'static Setting> {
    BY_NAME.get(name).copied()
}

/// The value of a setting that nobody has set; null for a name that is not in the table.
pub fn default(name: &str) -> &'static Value {
    DEFAULTS.get(name).unwrap_or(&Value::Null)
}

fn preset(setting: &Setting) -> Value {
    match setting.default {
        Preset::Typed => TYPED_DEFAULTS.get(setting.name).cloned().unwrap_or_default(),
        Preset::None => Value::Null,
        Preset::Bool(on) => on.into(),
        Preset::Whole(number) => number.into(),
        Preset::Decimal(number) => number.into(),
        Preset::Text(text) => text.into(),
        Preset::Words(words) => words.iter().copied().collect(),
        Preset::Json(text) => serde_json::from_str(text).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
