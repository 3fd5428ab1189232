//! Declared parameters: one table per endpoint says names, types and defaults, and reads, checks and documents them.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::raw::{Raw, RawMap};

/// Errors of a request's parameters: paths and texts, in the order of declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamErrors(Vec<(String, Cow<'static, str>)>);

pub const MISSING: &str = "is missing";
pub const INVALID: &str = "is invalid";
pub const EMPTY: &str = "is empty";
pub const NOT_LISTED: &str = "does not have a valid value";
pub const NOT_ALLOWED: &str = "has a value not allowed";

impl ParamErrors {
    pub fn one(text: impl Into<Cow<'static, str>>) -> Self {
        Self(vec![(String::new(), text.into())])
    }

    // Every type of parameters notes flaws: a copy in each would be much code.
    #[cold]
    #[inline(never)]
    pub fn add(&mut self, name: &str, text: &'static str) {
        self.0.push((name.to_owned(), text.into()));
    }

    /// Notes what is wrong with several parameters together: `a, b are mutually exclusive`.
    pub fn add_together(&mut self, names: &[&str], text: &'static str) {
        let Some((last, others)) = names.split_last() else { return };
        others.iter().for_each(|name| self.add(name, ""));
        self.add(last, text);
    }

    /// Takes over what is wrong with the parameter `name`.
    #[cold]
    #[inline(never)]
    pub fn add_under(&mut self, name: &str, inner: Self) {
        self.0.extend(inner.0.into_iter().map(|(path, text)| (format!("{name}{path}"), text)));
    }

    /// Takes over what is wrong with the fields of a hash.
    pub fn add_fields(&mut self, inner: Self) {
        self.0.extend(inner.0.into_iter().map(|(path, text)| {
            let (head, tail) = path.split_at(path.find('[').unwrap_or(path.len()));
            (format!("[{head}]{tail}"), text)
        }));
    }

    /// Puts them into the order of these parameters; what is wrong with others comes last.
    pub fn in_order_of(mut self, names: &[&str]) -> Self {
        self.0.sort_by_key(|(path, _)| {
            let name = path.split('[').next().unwrap_or(path);
            names.iter().position(|one| *one == name).unwrap_or(names.len())
        });
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `name is missing, path is invalid`
    pub fn text(&self) -> String {
        let texts: Vec<String> = self
            .0
            .iter()
            .map(|(path, text)| format!("{path} {text}").trim_end().to_owned())
            .collect();
        texts.join(", ")
    }
}

/// A type that a parameter can have.
pub trait Param: Sized {
    /// Reads a value that was given; `None` stands for null.
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors>;

    /// What a parameter that was not given, or was null, is; `None` where it must be given.
    fn absent() -> Option<Self> {
        None
    }

    /// What a parameter that must be given is where it was given as null; `None` where that is no value of it.
    fn null() -> Option<Self> {
        None
    }

    /// Whether a null counts as "not given".
    const OPTIONAL: bool = false;

    /// Its JSON Schema.
    fn schema() -> Value;
}

impl<T: Param> Param for Option<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        T::read(raw).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    const OPTIONAL: bool = true;

    fn schema() -> Value {
        T::schema()
    }
}

impl<T: Param> Param for Vec<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let mut flaws = ParamErrors::default();
        let mut values = Self::new();
        for (position, element) in elements(raw)?.into_iter().enumerate() {
            match T::read(element) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => {}
                Err(inner) if inner == ParamErrors::one(INVALID) => return Err(inner),
                Err(inner) => flaws.add_under(&format!("[{position}]"), inner),
            }
        }
        if flaws.is_empty() { Ok(Some(values)) } else { Err(flaws) }
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}

/// The elements of a list, in either form: a list, or a map with the positions as keys.
pub(super) fn elements(raw: &Raw) -> Result<Vec<&Raw>, ParamErrors> {
    match raw {
        Raw::Null => Ok(Vec::new()),
        Raw::List(list) => Ok(list.iter().collect()),
        Raw::Map(map) if map.iter().all(|(key, _)| key.parse::<u32>().is_ok()) => {
            let mut numbered: Vec<_> = map
                .iter()
                .filter_map(|(key, value)| Some((key.parse::<u32>().ok()?, value)))
                .collect();
            numbered.sort_by_key(|(position, _)| *position);
            Ok(numbered.into_iter().map(|(_, value)| value).collect())
        }
        _ => Err(ParamErrors::one(INVALID)),
    }
}

/// One declared parameter, as documents show it.
#[derive(Clone, Debug)]
pub struct ParamDoc {
    pub name: &'static str,
    pub required: bool,
    pub schema: Value,
    pub text: String,
}

/// A parameter as it is declared: data alone, from which [`documented`] makes what documents show.
#[derive(Clone, Copy, Debug)]
pub struct ParamField {
    pub name: &'static str,
    pub required: bool,
    pub schema: fn() -> Value,
    /// The lines of its comment.
    pub text: &'static [&'static str],
}

/// What documents show of these parameters.
pub fn documented(fields: &[ParamField]) -> Vec<ParamDoc> {
    let document = |field: &ParamField| {
        let lines: Vec<&str> = field.text.iter().map(|line| line.trim()).collect();
        ParamDoc {
            name: field.name,
            required: field.required,
            schema: (field.schema)(),
            text: lines.join(" "),
        }
    };
    fields.iter().map(document).collect()
}

/// All parameters of an endpoint.
pub trait Params: Sized + 'static {
    /// Whether `page` and `per_page` belong to them.
    const PAGED: bool;
    /// Whether `pagination=keyset` is offered.
    const KEYSET: bool = false;
    /// Whether a page of nothing is one of the usual length, and no mistake.
    const FORGIVING: bool = false;
    fn read(raw: &RawMap) -> Result<Self, ParamErrors>;
    fn describe() -> Vec<ParamDoc>;
    /// Whether there is a route with these values in its path. Where there is none, nobody is asked for a credential.
    fn has_route(_in_path: &[(&'static str, Raw)]) -> bool {
        true
    }
    /// The declared defaults, which links to other pages repeat.
    fn defaults() -> Vec<(&'static str, String)>;
    /// What holds between parameters.
    fn rules(_raw: &RawMap) -> Option<String> {
        None
    }
}

/// Reads one field; the value is `None` where a flaw was noted instead.
pub fn field<T: Param>(
    raw: &RawMap,
    name: &'static str,
    default: Option<T>,
    flaws: &mut ParamErrors,
) -> Option<T> {
    let given = raw.get(name);
    match given.map_or(Ok(None), T::read) {
        Ok(Some(value)) => Some(value),
        Ok(None) => {
            let null = || given.and_then(|_| T::null());
            let value = default.or_else(T::absent).or_else(null);
            if value.is_none() {
                flaws.add(name, if given.is_some() { INVALID } else { MISSING });
            }
            value
        }
        Err(inner) => {
            flaws.add_under(name, inner);
            None
        }
    }
}

/// The name of a field as clients write it: without the mark of a raw identifier.
pub const fn plain_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// How a default looks in a query.
pub fn default_text(value: &impl serde::Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => Some(text),
        Ok(Value::Null) | Err(_) => None,
        Ok(value) => Some(value.to_string()),
    }
}

fn given<'a>(raw: &RawMap, names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| raw.has(name)).collect()
}

/// The rule "at least one of".
pub fn at_least_one(raw: &RawMap, names: &[&str]) -> Option<String> {
    given(raw, names).is_empty().then(|| {
        format!("{} are missing, at least one parameter must be provided", names.join(", "))
    })
}

/// The rule "exactly one of".
pub fn exactly_one(raw: &RawMap, names: &[&str]) -> Option<String> {
    match given(raw, names).len() {
        0 => Some(format!(
            "{} are missing, exactly one parameter must be provided",
            names.join(", ")
        )),
        _ => exclusive(raw, names),
    }
}

/// The rule "not both".
pub fn exclusive(raw: &RawMap, names: &[&str]) -> Option<String> {
    let given = given(raw, names);
    (given.len() > 1).then(|| format!("{} are mutually exclusive", given.join(", ")))
}

/// The rule "who gives the first gives the others".
pub fn needs(raw: &RawMap, names: &[&str]) -> Option<String> {
    let (first, others) = names.split_first()?;
    let missing = others.iter().filter(|name| raw.has(first) && !raw.has(name));
    let texts: Vec<String> = missing.map(|name| format!("{name} {MISSING}")).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// The rule "all or none".
pub fn together(raw: &RawMap, names: &[&str]) -> Option<String> {
    let given = given(raw, names).len();
    (given != 0 && given != names.len())
        .then(|| format!("{} provide all or none of parameters", names.join(", ")))
}

/// Declares the parameters of an endpoint: `name: Type` must be given, `name: Type = value` has a default,
/// `name: Option<Type>` may be missing. `paged` adds `page` and `per_page`, `keyset` also `pagination=keyset`;
/// `forgiving` is `paged` where `per_page=0` is no mistake.
/// `with rule(names…)` states what holds between them. The struct is a hash parameter, too.
#[macro_export]
macro_rules! params {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(: $mode:ident)? {
        $($(#[doc = $doc:literal])* $field:ident : $type:ty $(= $default:expr)?),* $(,)?
    } $(with $($rule:ident ( $($of:literal),+ $(,)? )),+ ;)?) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        $vis struct $name { $($(#[doc = $doc])* pub $field: $type),* }

        impl $crate::extract::Params for $name {
            const PAGED: bool = $crate::params!(@paged $($mode)?);
            const KEYSET: bool = $crate::params!(@keyset $($mode)?);
            const FORGIVING: bool = $crate::params!(@forgiving $($mode)?);

            #[allow(unused_mut, unused_variables, clippy::allow_attributes, clippy::allow_attributes_without_reason)]
            fn read(raw: &$crate::extract::RawMap) -> Result<Self, $crate::extract::ParamErrors> {
                let mut flaws = $crate::extract::ParamErrors::default();
                $(let $field = $crate::extract::params::field::<$type>(
                    raw,
                    const { $crate::extract::params::plain_name(stringify!($field)) },
                    $crate::params!(@default $($default)?),
                    &mut flaws,
                );)*
                match ($($field,)*) {
                    ($(Some($field),)*) if flaws.is_empty() => Ok(Self { $($field),* }),
                    #[allow(unreachable_patterns)]
                    _ => Err(flaws),
                }
            }

            fn describe() -> Vec<$crate::extract::params::ParamDoc> {
                const FIELDS: &[$crate::extract::params::ParamField] =
                    &[$($crate::extract::params::ParamField {
                        name: $crate::extract::params::plain_name(stringify!($field)),
                        required: !<$type as $crate::extract::Param>::OPTIONAL $(&& $crate::params!(@given $default))?,
                        schema: <$type as $crate::extract::Param>::schema,
                        text: &[$($doc),*],
                    }),*];
                $crate::extract::params::documented(FIELDS)
            }

            #[allow(unused_mut, clippy::allow_attributes, clippy::allow_attributes_without_reason)]
            fn defaults() -> Vec<(&'static str, String)> {
                let mut defaults = Vec::new();
                $($(if let Some(text) = $crate::extract::params::default_text(&$default) {
                    defaults.push((const { $crate::extract::params::plain_name(stringify!($field)) }, text));
                })?)*
                defaults
            }

            $(fn rules(raw: &$crate::extract::RawMap) -> Option<String> {
                $(if let Some(text) = $crate::extract::params::$rule(raw, &[$($of),+]) {
                    return Some(text);
                })+
                None
            })?
        }

        impl $crate::extract::Param for $name {
            fn read(raw: &$crate::extract::Raw) -> Result<Option<Self>, $crate::extract::ParamErrors> {
                match raw {
                    $crate::extract::Raw::Null => Ok(None),
                    $crate::extract::Raw::Map(map) => match <Self as $crate::extract::Params>::read(map) {
                        Ok(value) => Ok(Some(value)),
                        Err(inner) => {
                            let mut flaws = $crate::extract::ParamErrors::default();
                            flaws.add_fields(inner);
                            Err(flaws)
                        }
                    },
                    _ => Err($crate::extract::ParamErrors::one($crate::extract::params::INVALID)),
                }
            }

            fn schema() -> serde_json::Value {
                $crate::extract::params::object_schema(&<Self as $crate::extract::Params>::describe())
            }
        }
    };
    (@paged) => { false };
    (@paged $mode:ident) => { true };
    (@keyset) => { false };
    (@keyset paged) => { false };
    (@keyset keyset) => { true };
    (@keyset forgiving) => { false };
    (@forgiving) => { false };
    (@forgiving forgiving) => { true };
    (@forgiving $mode:ident) => { false };
    (@default) => { None };
    (@default $default:expr) => { Some($default) };
    (@given $default:expr) => { false };
}

/// The schema of a hash with these fields.
pub fn object_schema(fields: &[ParamDoc]) -> Value {
    let property = |field: &ParamDoc| {
        let mut schema = field.schema.clone();
        if !field.text.is_empty() {
            schema["description"] = json!(field.text);
        }
        (field.name.to_owned(), schema)
    };
    let properties: serde_json::Map<String, Value> = fields.iter().map(property).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

crate::params! {
    /// For endpoints that take nothing beside their path.
    pub struct NoParams {}
}

crate::params! {
    /// For lists that take nothing but a page.
    pub struct OnlyPage: paged {}
}
