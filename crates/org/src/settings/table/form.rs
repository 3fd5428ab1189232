//! The columns of the table, and the words that its rows are written with.

/// One application setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub name: &'static str,
    pub form: Form,
    pub default: Preset,
    /// Settings that must be given in the same request where this one is switched on.
    pub needs: &'static [&'static str],
    pub secrecy: Secrecy,
    /// Whether Forgeway does something by it; otherwise it is kept for clients that read it back.
    pub acts: bool,
}

/// The type of a setting's value, with its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Switch,
    /// An integer within bounds; `optional` allows null.
    Whole {
        least: i64,
        most: i64,
        optional: bool,
    },
    Decimal {
        least: f64,
        most: f64,
    },
    /// Text of at most so many characters, or null.
    Text {
        most: usize,
    },
    /// An address of HTTP or HTTPS, blank or null.
    Url,
    /// An e-mail address, blank or null.
    Email,
    /// A regular expression, blank or null.
    Pattern,
    /// One of these words, of which those in `empty` stand for null.
    Choice {
        words: &'static [&'static str],
        empty: &'static [&'static str],
    },
    /// One of these numbers.
    Number(&'static [i64]),
    /// So many texts at most, each with at most 255 characters.
    List {
        most: usize,
    },
    /// Any of these words.
    Choices(&'static [&'static str]),
    /// Any visibility levels.
    Levels,
    /// Ids.
    Ids,
    /// Names with switches.
    Switches(&'static [&'static str]),
    /// Names of storages with weights.
    Weights,
}

/// The source of a setting's default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preset {
    /// In the field of [`Settings`](crate::settings::Settings) with the same name.
    Typed,
    None,
    Bool(bool),
    Whole(i64),
    Decimal(f64),
    Text(&'static str),
    Words(&'static [&'static str]),
    /// Anything else, as JSON.
    Json(&'static str),
}

/// The secrecy of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    Open,
    /// Sealed in the database, and told to administrators.
    Sealed,
    /// Sealed in the database, and in no answer.
    WriteOnly,
}

/// The least decimal that is more than nothing.
pub(super) const ABOVE_ZERO: f64 = f64::MIN_POSITIVE;
/// More than any path, address or key has.
const LINE: usize = 8192;
/// For texts that are written to be read.
const PROSE: usize = 100_000;

const fn row(name: &'static str, form: Form, default: Preset) -> Setting {
    Setting { name, form, default, needs: &[], secrecy: Secrecy::Open, acts: false }
}

/// A setting that is a field of [`Settings`](crate::settings::Settings), which all do something.
pub(super) const fn typed(name: &'static str, form: Form) -> Setting {
    row(name, form, Preset::Typed).acts()
}

pub(super) const fn switch(name: &'static str, on: bool) -> Setting {
    row(name, Form::Switch, Preset::Bool(on))
}

/// An integer that is not negative.
pub(super) const fn whole(name: &'static str, default: i64) -> Setting {
    within(name, default, 0, i64::MAX)
}

pub(super) const fn within(name: &'static str, default: i64, least: i64, most: i64) -> Setting {
    row(name, Form::Whole { least, most, optional: false }, Preset::Whole(default))
}

/// An integer within bounds, or null, which is the default.
pub(super) const fn optional(name: &'static str, least: i64, most: i64) -> Setting {
    row(name, Form::Whole { least, most, optional: true }, Preset::None)
}

pub(super) const fn decimal(name: &'static str, default: Preset, least: f64, most: f64) -> Setting {
    row(name, Form::Decimal { least, most }, default)
}

pub(super) const fn text(name: &'static str) -> Setting {
    row(name, Form::Text { most: LINE }, Preset::None)
}

pub(super) const fn prose(name: &'static str) -> Setting {
    row(name, Form::Text { most: PROSE }, Preset::None)
}

pub(super) const fn short(name: &'static str) -> Setting {
    row(name, Form::Text { most: 255 }, Preset::None)
}

pub(super) const fn url(name: &'static str) -> Setting {
    row(name, Form::Url, Preset::None)
}

pub(super) const fn email(name: &'static str) -> Setting {
    row(name, Form::Email, Preset::None)
}

pub(super) const fn pattern(name: &'static str) -> Setting {
    row(name, Form::Pattern, Preset::None)
}

pub(super) const fn choice(
    name: &'static str,
    default: &'static str,
    words: &'static [&'static str],
) -> Setting {
    row(name, Form::Choice { words, empty: &[] }, Preset::Text(default))
}

pub(super) const fn number(name: &'static str, default: i64, numbers: &'static [i64]) -> Setting {
    row(name, Form::Number(numbers), Preset::Whole(default))
}

pub(super) const fn list(name: &'static str, most: usize) -> Setting {
    row(name, Form::List { most }, Preset::Words(&[]))
}

pub(super) const fn choices(
    name: &'static str,
    default: &'static [&'static str],
    words: &'static [&'static str],
) -> Setting {
    row(name, Form::Choices(words), Preset::Words(default))
}

pub(super) const fn special(name: &'static str, form: Form, default: Preset) -> Setting {
    row(name, form, default)
}

impl Setting {
    pub(super) const fn acts(self) -> Self {
        Self { acts: true, ..self }
    }

    pub(super) const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    pub(super) const fn preset(self, default: Preset) -> Self {
        Self { default, ..self }
    }

    pub(super) const fn sealed(self) -> Self {
        Self { secrecy: Secrecy::Sealed, ..self }
    }

    pub(super) const fn write_only(self) -> Self {
        Self { secrecy: Secrecy::WriteOnly, ..self }
    }

    /// Whether the value is sealed in the database.
    pub const fn is_secret(&self) -> bool {
        !matches!(self.secrecy, Secrecy::Open)
    }
}
