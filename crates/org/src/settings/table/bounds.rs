//! Checking the values of a request against the table.

use kernel::{
    Faults,
    values::{is_email, is_web_url, length_fault, range_fault},
};
use regex::Regex;
use serde_json::Value;

use super::{Form, Setting, default};

/// Of an entry of a list.
const ENTRY: usize = 255;
/// Storages that there are.
const STORAGE: &str = "default";

/// Notes what is wrong with the value of one setting.
pub fn check(setting: &Setting, value: &Value, faults: &mut Faults) {
    match setting.form {
        Form::Switch if !value.is_boolean() => {
            faults.add(setting.name, "must be a boolean value");
        }
        Form::Whole { optional: true, .. } if value.is_null() => {}
        Form::Whole { least, most, .. } => {
            whole(setting.name, value.as_i64(), (least, most), faults)
        }
        Form::Choice { .. } if is_refused_null(setting, value) => {
            faults.add(setting.name, "can't be blank");
        }
        Form::Decimal { .. } | Form::Number(_) if is_refused_null(setting, value) => {
            faults.add(setting.name, "is not a number");
        }
        Form::Decimal { least, most } => decimal(setting.name, value, (least, most), faults),
        Form::List { most } => list(setting.name, value, most, faults),
        Form::Levels => levels(setting.name, value, faults),
        Form::Weights => weights(setting.name, value, faults),
        Form::Text { most } => {
            faults.add_each(setting.name, fault_of_text(value, |text| length_fault(text, most)))
        }
        Form::Url => faults.add_each(
            setting.name,
            fault_of_text(value, |text| (!is_web_url(text)).then(|| url_fault(text).to_owned())),
        ),
        Form::Email => faults.add_each(
            setting.name,
            fault_of_text(value, |text| (!is_email(text)).then(|| "is invalid".to_owned())),
        ),
        Form::Pattern => faults.add_each(
            setting.name,
            fault_of_text(value, |text| {
                Regex::new(text).err().map(|_odd| "is not a valid regexp".to_owned())
            }),
        ),
        // Words and numbers that are not in the list were refused when the request was read.
        Form::Switch
        | Form::Choice { .. }
        | Form::Number(_)
        | Form::Choices(_)
        | Form::Ids
        | Form::Switches(_) => {}
    }
}

/// Whether a value is null where the default is not: nothing could be told of such a setting.
fn is_refused_null(setting: &Setting, value: &Value) -> bool {
    value.is_null() && !default(setting.name).is_null()
}

/// Why a text is no address of the web.
pub(in crate::settings) fn url_fault(text: &str) -> &'static str {
    match text.split_once(':') {
        Some((scheme, _)) if is_scheme(scheme) && !is_of_web(scheme) => {
            "is blocked: Only allowed schemes are http, https"
        }
        _ => "must be a valid URL",
    }
}

fn is_scheme(word: &str) -> bool {
    let is_inner = |sign: char| sign.is_ascii_alphanumeric() || "+-.".contains(sign);
    word.starts_with(|sign: char| sign.is_ascii_alphabetic()) && word.chars().all(is_inner)
}

fn is_of_web(scheme: &str) -> bool {
    ["http", "https"].contains(&&*scheme.to_ascii_lowercase())
}

fn fault_of_text(value: &Value, fault: impl Fn(&str) -> Option<String>) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).and_then(fault)
}

fn whole(name: &str, number: Option<i64>, (least, most): (i64, i64), faults: &mut Faults) {
    match number {
        None => faults.add(name, "is not a number"),
        Some(number) if least == 1 && number < 1 => faults.add(name, "must be greater than 0"),
        Some(number) => faults.add_each(name, range_fault(number, least..=most)),
    }
}

fn decimal(name: &str, value: &Value, (least, most): (f64, f64), faults: &mut Faults) {
    let Some(number) = value.as_f64() else { return };
    if number <= 0.0 && least > 0.0 {
        faults.add(name, "must be greater than 0");
    } else if number < least {
        faults.add(name, format!("must be greater than or equal to {least}"));
    } else if number > most {
        faults.add(name, format!("must be less than or equal to {most}"));
    }
}

fn list(name: &str, value: &Value, most: usize, faults: &mut Faults) {
    let entries = value.as_array().map_or(&[][..], Vec::as_slice);
    if entries.len() > most {
        faults.add(name, format!("is too long (maximum is {most} entries)"));
    }
    let long = entries.iter().filter_map(Value::as_str).find_map(|text| length_fault(text, ENTRY));
    faults.add_each(name, long);
}

fn levels(name: &str, value: &Value, faults: &mut Faults) {
    let known = |level: &&str| !["private", "internal", "public"].contains(level);
    let given = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let odd = given.filter(known).map(|level| format!("'{level}' is not a valid visibility level"));
    faults.add_each(name, odd);
}

fn weights(name: &str, value: &Value, faults: &mut Faults) {
    for (storage, weight) in value.as_object().into_iter().flatten() {
        if storage != STORAGE {
            faults.add(name, format!("can't include: {storage}"));
        } else if !weight.as_i64().is_some_and(|weight| (0..=100).contains(&weight)) {
            faults.add(name, format!("value for '{storage}' must be between 0 and 100"));
        }
    }
}
