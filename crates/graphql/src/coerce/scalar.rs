//! The values of scalars, from JSON and from the literals of a document.

use serde_json::Value as Json;

use super::{Rules, Variables};
use crate::{document::Literal, ids, input::Input};

fn starts_with_day(text: &str) -> bool {
    let mut parts = text.get(..10).unwrap_or_default().splitn(3, '-');
    let mut number = |length: usize| {
        let part = parts.next().filter(|part| part.len() == length)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u16>().ok())?
    };
    let (year, month, day) = (number(4), number(2), number(2));
    let month = month.and_then(|month| u8::try_from(month).ok());
    let month = month.and_then(|month| time::Month::try_from(month).ok());
    let day = day.and_then(|day| u8::try_from(day).ok());
    matches!((year, month, day), (Some(year), Some(month), Some(day))
        if time::Date::from_calendar_date(year.into(), month, day).is_ok())
}

fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    let is_name = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_name || ([3, 6].contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// A scalar's value as it was given.
pub(super) enum JsonValue<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Other(Json),
}

impl<'a> JsonValue<'a> {
    pub(super) fn of_json(json: &'a Json) -> Self {
        match json {
            Json::Bool(flag) => Self::Bool(*flag),
            Json::String(text) => Self::Text(text),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Self::Int(number),
                (None, Some(number)) => Self::Float(number),
                (None, None) => Self::Other(json.clone()),
            },
            other => Self::Other(other.clone()),
        }
    }

    pub(super) fn of_literal(literal: &'a Literal, variables: &Variables) -> Self {
        match literal {
            Literal::Bool(flag) => Self::Bool(*flag),
            Literal::Text(text) => Self::Text(text),
            Literal::Int(text) => match text.parse() {
                Ok(number) => Self::Int(number),
                Err(_) => Self::Other(Json::Null),
            },
            Literal::Float(text) => match text.parse() {
                Ok(number) => Self::Float(number),
                Err(_) => Self::Other(Json::Null),
            },
            other => Self::Other(plain(other, variables)),
        }
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Bool(flag) => (*flag).into(),
            Self::Int(number) => (*number).into(),
            Self::Float(number) => (*number).into(),
            Self::Text(text) => (*text).into(),
            Self::Other(json) => json.clone(),
        }
    }
}

/// A literal where any JSON is taken.
fn plain(literal: &Literal, variables: &Variables) -> Json {
    match literal {
        Literal::Null => Json::Null,
        Literal::Bool(flag) => (*flag).into(),
        Literal::Int(text) | Literal::Float(text) => {
            serde_json::from_str(text).unwrap_or(Json::Null)
        }
        Literal::Text(text) | Literal::Enum(text) => text.as_str().into(),
        Literal::Variable(name) => variables.get(name).map_or(Json::Null, Input::to_json),
        Literal::List(elements) => elements.iter().map(|value| plain(value, variables)).collect(),
        Literal::Object(fields) => {
            let fields = fields.iter();
            Json::Object(fields.map(|(name, it)| (name.clone(), plain(it, variables))).collect())
        }
    }
}

impl Rules<'_> {
    #[expect(clippy::too_many_lines, reason = "the fields of one type stand in one table")]
    pub(super) fn scalar(self, name: &str, given: &JsonValue<'_>) -> Result<Input, Option<String>> {
        let whole = |range: std::ops::RangeInclusive<i64>| match given {
            JsonValue::Int(number) if range.contains(number) => Ok(Input::Int(*number)),
            _ => Err(None),
        };
        let text = || match given {
            // No database keeps a text with a zero byte.
            JsonValue::Text(text) if !text.contains('\0') => Ok((*text).to_owned()),
            _ => Err(None),
        };
        match name {
            "Int" => whole(i64::from(i32::MIN)..=i64::from(i32::MAX)),
            "Float" | "Duration" => match given {
                JsonValue::Int(number) => Ok(Input::Int(*number)),
                JsonValue::Float(number) if number.is_finite() => Ok(Input::Float(*number)),
                _ => Err(None),
            },
            "Boolean" => match given {
                JsonValue::Bool(flag) => Ok(Input::Bool(*flag)),
                _ => Err(None),
            },
            "BigInt" => match given {
                JsonValue::Text(text) => match text.parse() {
                    Ok(number) => Ok(Input::Int(number)),
                    Err(_) => Err(None),
                },
                _ => whole(i64::MIN..=i64::MAX),
            },
            "ID" => match given {
                JsonValue::Int(number) => Ok(Input::Text(number.to_string())),
                _ => text().map(Input::Text),
            },
            "JSON" => Ok(Input::Json(given.to_json())),
            "PayloadAlertFieldPathSegment" => match given {
                JsonValue::Int(number) => Ok(Input::Int(*number)),
                _ => text().map(Input::Text),
            },
            "JsonString" => {
                let text = text()?;
                match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
                    Ok(_) => Ok(Input::Text(text)),
                    Err(cause) => Err(Some(format!("Invalid JSON string: {cause}"))),
                }
            }
            "Time" => {
                let text = text()?;
                match starts_with_day(&text) {
                    true => Ok(Input::Text(text)),
                    false => Err(Some(format!("no time information in {}", Json::from(text)))),
                }
            }
            "Date" | "ISO8601Date" => {
                let text = text()?;
                match text.len() == 10 && starts_with_day(&text) {
                    true => Ok(Input::Text(text)),
                    false => Err(Some("invalid date".to_owned())),
                }
            }
            "Color" => {
                let text = text()?;
                match is_color(&text) {
                    true => Ok(Input::Text(text)),
                    false => Err(Some("Not a color".to_owned())),
                }
            }
            "Upload" => Err(None),
            _ if name.ends_with("ID") => self.global_id(name, given),
            _ => text().map(Input::Text),
        }
    }

    fn global_id(self, name: &str, given: &JsonValue<'_>) -> Result<Input, Option<String>> {
        let text = match given {
            JsonValue::Text(text) => (*text).to_owned(),
            JsonValue::Int(number) => number.to_string(),
            _ => return Err(None),
        };
        let classes = self.ids.get(name).copied().unwrap_or_default();
        let checked =
            ids::parse_gid(&text).and_then(|(class, _)| ids::ensure_class(&text, &class, classes));
        match checked {
            Ok(()) => Ok(Input::Text(text)),
            Err(refusal) => Err(Some(refusal.to_string())),
        }
    }
}
