//! Every value has the text that `serde_json` writes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use crate::append;

fn text(value: &impl Serialize) -> String {
    let mut text = b"before ".to_vec();
    append(&mut text, value).expect("JSON");
    String::from_utf8(text.split_off(7)).expect("UTF-8")
}

fn assert_same(value: &impl Serialize) {
    assert_eq!(text(value), serde_json::to_string(value).expect("JSON"));
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Wrapped(i64);

#[derive(Serialize)]
struct Pair(u8, &'static str);

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(Option<bool>),
    Tuple(i16, char),
    Struct { a: Vec<Self>, b: () },
}

#[derive(Serialize)]
struct Inner {
    first: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<u8>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Record {
    long_name: Option<String>,
    #[serde(flatten)]
    inner: Inner,
    #[serde(rename = "quoted \" name")]
    other: (f32, f64, i128),
    raw: Box<RawValue>,
    shapes: Vec<Shape>,
    numbered: BTreeMap<i32, Wrapped>,
    switched: BTreeMap<bool, Pair>,
    worded: BTreeMap<char, Unit>,
}

fn record() -> Record {
    let shapes = vec![Shape::Unit, Shape::Newtype(Some(true)), Shape::Tuple(-3, '"')];
    Record {
        long_name: Some("a\u{1f}\n\té".to_owned()),
        inner: Inner { first: vec![0, u64::MAX], absent: None },
        other: (0.1, -1.5e300, i128::MIN),
        raw: RawValue::from_string(r#"{"a": [1, "x\n"]}"#.to_owned()).expect("JSON"),
        shapes: vec![Shape::Struct { a: shapes, b: () }, Shape::Newtype(None)],
        numbered: BTreeMap::from([(-1, Wrapped(1)), (2, Wrapped(-2))]),
        switched: BTreeMap::from([(false, Pair(1, "x"))]),
        worded: BTreeMap::from([('\\', Unit)]),
    }
}

#[test]
fn a_record_of_every_form_has_the_text_of_serde_json() {
    assert_same(&record());
    assert_same(&[Some(record()), None]);
}

#[test]
fn numbers_that_json_has_not_are_null() {
    assert_same(&[f64::NAN, f64::INFINITY, 0.0, -0.0, 1e21, f64::MIN_POSITIVE]);
    assert_eq!(text(&f32::NAN), "null");
}

#[test]
fn a_key_that_is_no_text_is_refused() {
    let mut out = Vec::new();
    assert!(append(&mut out, &BTreeMap::from([(vec![1], 1)])).is_err());
    assert!(append(&mut out, &BTreeMap::from([((), 1)])).is_err());
}

/// Text behind raw JSON is text again, and bytes are numbers.
struct Bytes;

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&[0, 255])
    }
}

#[test]
fn bytes_are_a_list_of_numbers() {
    assert_same(&(record().raw, "text \"again\"", Bytes));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        "[ -~\\n\"\\\\]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(".{0,12}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_has_the_text_of_serde_json(value in any_json()) {
        prop_assert_eq!(text(&value), serde_json::to_string(&value).expect("JSON"));
    }

    #[test]
    fn any_bytes_have_their_escapes(bytes in prop::collection::vec(0_u8..128, 0..40)) {
        let value = String::from_utf8(bytes).expect("ASCII");
        prop_assert_eq!(text(&value), serde_json::to_string(&value).expect("JSON"));
    }
}
