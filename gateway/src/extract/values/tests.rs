//! Parsing of parameter values by type.

use kernel::Ts;
use serde_json::json;
use time::{Date, macros::date};

use super::{Change, Csv, INVALID, NonEmpty, Param, ParamErrors, Raw};
use crate::extract::{RawMap, body::pairs};

/// The parameter `p` of a JSON body.
fn of_json(value: serde_json::Value) -> Raw {
    let body = serde_json::Map::from_iter([("p".to_owned(), value)]);
    RawMap::from_json(body.into()).get("p").cloned().expect("the parameter")
}

/// The parameter `p` of a form or query.
fn of_form(text: &str) -> Raw {
    pairs(text.as_bytes()).get("p").cloned().expect("the parameter")
}

fn invalid<T>() -> Result<T, ParamErrors> {
    Err(ParamErrors::one(INVALID))
}

#[test]
fn many_words_are_yes_or_no() {
    let yes =
        ["1", "t", "true", "T", "True", "TRUE", "on", "On", "ON", "y", "yes", "Y", "Yes", "YES"];
    let no =
        ["0", "f", "false", "F", "False", "FALSE", "off", "Off", "OFF", "n", "no", "N", "No", "NO"];
    for (words, expected) in [(yes, true), (no, false)] {
        for word in words {
            assert_eq!(bool::read(&of_form(&format!("p={word}"))), Ok(Some(expected)), "{word}");
        }
    }
    assert_eq!(bool::read(&of_json(json!(1))), Ok(Some(true)));
    assert_eq!(bool::read(&of_json(json!(false))), Ok(Some(false)));
    assert_eq!(bool::read(&of_form("p=")), Ok(None));
    for odd in [json!("tRUE"), json!("2"), json!(2), json!([true]), json!({ "a": true })] {
        assert_eq!(bool::read(&of_json(odd.clone())), invalid(), "{odd}");
    }
}

#[test]
fn numbers_come_as_numbers_and_as_text() {
    for (sent, number) in [(json!(12), Some(12)), (json!("12"), Some(12)), (json!(""), None)] {
        assert_eq!(i64::read(&of_json(sent)), Ok(number));
    }
    for odd in [json!("1.5"), json!(1.5), json!("twelve"), json!(true), json!([1])] {
        assert_eq!(i64::read(&of_json(odd.clone())), invalid(), "{odd}");
    }
    assert_eq!(f64::read(&of_form("p=51.5")), Ok(Some(51.5)));
    assert_eq!(f64::read(&of_form("p=")), Ok(None));
    assert_eq!(f64::read(&of_form("p=inf")), invalid());
}

#[test]
fn numbers_and_truth_are_text_where_text_is_wanted() {
    for (sent, text) in
        [(json!("a"), "a"), (json!(12), "12"), (json!(true), "true"), (json!(""), "")]
    {
        assert_eq!(String::read(&of_json(sent)), Ok(Some(text.to_owned())));
    }
    assert_eq!(String::read(&of_json(json!(["a"]))), invalid());
    assert_eq!(String::read(&of_json(json!({ "a": 1 }))), invalid());
    assert!(NonEmpty::read(&of_json(json!("  "))).is_err());
}

#[test]
fn moments_and_days_come_in_every_form_of_the_standard() {
    let moment = Ts::parse("2026-01-02T03:04:05Z");
    for text in ["2026-01-02T03:04:05Z", "2026-01-02T04:04:05%2B01:00", "2026-01-02T03:04:05.000Z"]
    {
        assert_eq!(Ts::read(&of_form(&format!("p={text}"))), Ok(moment), "{text}");
    }
    assert_eq!(Ts::read(&of_form("p=2026-01-02")), Ok(Ts::parse("2026-01-02T00:00:00Z")));
    assert_eq!(Ts::read(&of_form("p=yesterday")), invalid());
    assert_eq!(Date::read(&of_form("p=2026-01-02")), Ok(Some(date!(2026 - 01 - 02))));
    assert_eq!(Date::read(&of_form("p=2026-13-02")), invalid());
}

#[test]
fn lists_come_in_brackets_by_number_and_as_json() {
    let two = Ok(Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(Vec::<String>::read(&of_form("p[]=a&p[]=b")), two);
    assert_eq!(Vec::<String>::read(&of_form("p[1]=b&p[0]=a")), two);
    assert_eq!(Vec::<String>::read(&of_json(json!(["a", "b"]))), two);
    assert_eq!(Vec::<String>::read(&Raw::Null), Ok(Some(Vec::new())));
    assert_eq!(Vec::<String>::read(&of_form("p=a,b")), invalid());
    let csv = Ok(Some(Csv(vec!["a".to_owned(), "b".to_owned()])));
    for sent in ["p=a, b", "p[]=a&p[]=b", "p[]=a,b"] {
        assert_eq!(Csv::<String>::read(&of_form(sent)), csv, "{sent}");
    }
}

crate::params! {
    #[derive(PartialEq, Eq)]
    struct Pair {
        key: String,
        value: Option<i64>,
    }
}

#[test]
fn a_key_that_comes_again_begins_the_next_hash() {
    let pair = |key: &str, value| Pair { key: key.to_owned(), value };
    let two = Ok(Some(vec![pair("a", Some(1)), pair("b", None)]));
    for sent in ["p[][key]=a&p[][value]=1&p[][key]=b", "p[0][key]=a&p[0][value]=1&p[1][key]=b"] {
        assert_eq!(Vec::<Pair>::read(&of_form(sent)), two, "{sent}");
    }
    assert_eq!(
        Vec::<Pair>::read(&of_json(json!([{ "key": "a", "value": "1" }, { "key": "b" }]))),
        two
    );
    let flaws = Vec::<Pair>::read(&of_json(json!([{ "key": "a" }, { "value": 1 }])));
    assert_eq!(flaws.map_err(|flaws| flaws.text()), Err("[1][key] is missing".to_owned()));
    assert_eq!(Vec::<Pair>::read(&of_json(json!(["a"]))), invalid());
}

#[test]
fn a_change_is_left_out_cleared_or_set() {
    assert_eq!(Change::<i64>::absent(), Some(Change::Keep));
    assert_eq!(Change::<i64>::read(&Raw::Null), Ok(Some(Change::Clear)));
    assert_eq!(Change::<i64>::read(&of_form("p=")), Ok(Some(Change::Clear)));
    assert_eq!(Change::<i64>::read(&of_form("p=3")), Ok(Some(Change::Set(3))));
}
