//! The parameters of a change, as the table of settings declares them.

use org::settings::{
    SettingValues,
    table::{self, ALIASES, Alias, EXCLUSIVE, Form, Setting, Translation},
};
use serde_json::{Map, Value, json};

use crate::extract::{
    Csv, Param, ParamErrors, Params, Raw, RawMap,
    params::{INVALID, MISSING, NOT_LISTED, ParamDoc, at_least_one, exclusive},
};

/// What the older name of the storages stands for.
const FULL_WEIGHT: i64 = 100;

/// Settings that are given together, or not at all.
const TOGETHER: [&str; 3] = [
    "housekeeping_full_repack_period",
    "housekeeping_gc_period",
    "housekeeping_incremental_repack_period",
];

/// Settings with new values.
#[derive(Clone, Debug)]
pub(super) struct ChangeSettings(pub(super) SettingValues);

impl Params for ChangeSettings {
    const PAGED: bool = false;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        let mut flaws = ParamErrors::default();
        let mut given = Vec::new();
        for setting in table::all() {
            let Some(value) = raw.get(setting.name) else { continue };
            match read(setting, value) {
                Ok(value) => given.extend(value.map(|value| (setting, value))),
                Err(inner) => flaws.add_under(setting.name, inner),
            }
        }
        // Who gives a setting under both names means the newer one.
        for alias in ALIASES.iter().filter(|alias| !raw.has(alias.of)) {
            let (Some(value), Some(setting)) = (raw.get(alias.name), table::find(alias.of)) else {
                continue;
            };
            match translated(alias, setting, value) {
                Ok(value) => given.extend(value.map(|value| (setting, value))),
                Err(inner) => flaws.add_under(alias.name, inner),
            }
        }
        for (setting, _) in given.iter().filter(|(_, value)| *value == Value::Bool(true)) {
            let missing = setting.needs.iter().filter(|name| !is_given(raw, name));
            missing.for_each(|name| flaws.add(name, MISSING));
        }
        if flaws.is_empty() && TOGETHER.iter().any(|name| is_given(raw, name)) {
            let missing = TOGETHER.iter().filter(|name| !is_given(raw, name));
            missing.for_each(|name| flaws.add(name, MISSING));
        }
        if flaws.is_empty() { Ok(Self(SettingValues(given))) } else { Err(flaws) }
    }

    fn describe() -> Vec<ParamDoc> {
        let settings = table::all().map(|setting| (setting.name, schema(setting), String::new()));
        let aliases = ALIASES.iter().map(|alias| {
            let text = format!("Another name of `{}`.", alias.of);
            (alias.name, alias_schema(alias), text)
        });
        let named = settings.chain(aliases);
        named.map(|(name, schema, text)| ParamDoc { name, required: false, schema, text }).collect()
    }

    fn defaults() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn rules(raw: &RawMap) -> Option<String> {
        let aliases = ALIASES.iter().map(|alias| alias.name);
        let fixed = ["hashed_storage_enabled", "housekeeping_bitmaps_enabled"];
        let names: Vec<&str> =
            table::all().map(|setting| setting.name).chain(aliases).chain(fixed).collect();
        at_least_one(raw, &names).or_else(|| exclusive(raw, EXCLUSIVE))
    }
}

/// Whether a setting is given, under any of its names.
fn is_given(raw: &RawMap, name: &str) -> bool {
    let mut aliases = ALIASES.iter().filter(|alias| alias.of == name);
    raw.has(name) || aliases.any(|alias| raw.has(alias.name))
}

/// The value of one setting; `None` where a blank changes nothing.
fn read(setting: &Setting, raw: &Raw) -> Result<Option<Value>, ParamErrors> {
    let value = match setting.form {
        Form::Switch => bool::read(raw)?.map(Value::from),
        Form::Whole { .. } => i64::read(raw)?.map(Value::from),
        Form::Number(numbers) => match i64::read(raw)? {
            Some(number) if !numbers.contains(&number) => return Err(ParamErrors::one(NOT_LISTED)),
            number => return Ok(number.map(Value::from)),
        },
        Form::Decimal { .. } => f64::read(raw)?.map(Value::from),
        Form::Text { .. } | Form::Url | Form::Email | Form::Pattern => {
            return text(setting, raw);
        }
        Form::Choice { words, empty } => match String::read(raw)? {
            Some(word) if !words.contains(&word.as_str()) => {
                return Err(ParamErrors::one(NOT_LISTED));
            }
            Some(word) if empty.contains(&word.as_str()) => None,
            word => word.map(Value::from),
        },
        Form::List { .. } | Form::Levels => Csv::<String>::read(raw)?.map(|list| json!(list.0)),
        Form::Choices(words) => match Csv::<String>::read(raw)?.unwrap_or_default().0 {
            list if list.iter().any(|word| !words.contains(&word.as_str())) => {
                return Err(ParamErrors::one(NOT_LISTED));
            }
            list => Some(json!(list)),
        },
        Form::Ids => Csv::<i64>::read(raw)?.map(|list| json!(list.0)),
        Form::Switches(names) => Some(hash::<bool>(raw, |name| names.contains(&name))?),
        Form::Weights => Some(hash::<i64>(raw, |_| true)?),
    };
    Ok(Some(value.unwrap_or(Value::Null)))
}

/// A blank clears a text, unless the setting is a field that is never null.
fn text(setting: &Setting, raw: &Raw) -> Result<Option<Value>, ParamErrors> {
    let mut text = String::read(raw)?;
    if setting.form == Form::Url {
        text = text.map(|text| text.trim().to_owned());
    }
    let never_null = table::default(setting.name).is_string();
    Ok(match text {
        None if never_null => None,
        None => Some(Value::Null),
        Some(text) => Some(text.into()),
    })
}

/// An object with values of one type; names that are not known are left out.
fn hash<T: Param + Into<Value>>(
    raw: &Raw,
    known: impl Fn(&str) -> bool,
) -> Result<Value, ParamErrors> {
    let map = match raw {
        Raw::Null => return Ok(Value::Object(Map::new())),
        Raw::Map(map) => map,
        _ => return Err(ParamErrors::one(INVALID)),
    };
    let mut values = Map::new();
    for (name, value) in map.iter().filter(|(name, _)| known(name)) {
        let value = T::read(value)?.ok_or(ParamErrors::one(INVALID))?;
        values.insert(name.to_owned(), value.into());
    }
    Ok(Value::Object(values))
}

fn translated(alias: &Alias, setting: &Setting, raw: &Raw) -> Result<Option<Value>, ParamErrors> {
    match alias.translation {
        Translation::Same => read(setting, raw),
        Translation::Lines => {
            let text = String::read(raw)?.unwrap_or_default();
            let entries = text.split(['\n', '\r', ',', ';']).map(str::trim);
            Ok(Some(entries.filter(|entry| !entry.is_empty()).collect()))
        }
        Translation::Storages => {
            let names = Csv::<String>::read(raw)?.unwrap_or_default().0;
            let weights = names.into_iter().map(|name| (name, FULL_WEIGHT.into()));
            Ok(Some(Value::Object(weights.collect())))
        }
        Translation::Clears => Ok((bool::read(raw)? == Some(false)).then_some(Value::Null)),
    }
}

fn schema(setting: &Setting) -> Value {
    match setting.form {
        Form::Switch => bool::schema(),
        Form::Whole { .. } => i64::schema(),
        Form::Decimal { .. } => f64::schema(),
        Form::Text { .. } | Form::Url | Form::Email | Form::Pattern => String::schema(),
        Form::Choice { words, .. } => json!({ "type": "string", "enum": words }),
        Form::Number(numbers) => json!({ "type": "integer", "enum": numbers }),
        Form::List { .. } | Form::Levels => Csv::<String>::schema(),
        Form::Choices(words) => {
            json!({ "type": "array", "items": { "type": "string", "enum": words } })
        }
        Form::Ids => Csv::<i64>::schema(),
        Form::Switches(names) => {
            let switches = names.iter().map(|name| ((*name).to_owned(), bool::schema()));
            json!({ "type": "object", "properties": switches.collect::<Map<_, _>>() })
        }
        Form::Weights => {
            json!({ "type": "object", "additionalProperties": { "type": "integer" } })
        }
    }
}

fn alias_schema(alias: &Alias) -> Value {
    match alias.translation {
        Translation::Same => table::find(alias.of).map(schema).unwrap_or_default(),
        Translation::Lines => String::schema(),
        Translation::Storages => Csv::<String>::schema(),
        Translation::Clears => bool::schema(),
    }
}
