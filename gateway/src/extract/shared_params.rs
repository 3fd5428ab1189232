//! Parameters that several endpoints share, put before those that each has of its own.

use super::{
    params::{INVALID, Param, ParamDoc, ParamErrors, Params, object_schema},
    raw::{Raw, RawMap},
};

impl<A: Params, B: Params> Params for (A, B) {
    const PAGED: bool = A::PAGED || B::PAGED;
    const KEYSET: bool = A::KEYSET || B::KEYSET;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        match (A::read(raw), B::read(raw)) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (first, second) => Err(flaws_of([first.err(), second.err()])),
        }
    }

    fn describe() -> Vec<ParamDoc> {
        A::describe().into_iter().chain(B::describe()).collect()
    }

    fn defaults() -> Vec<(&'static str, String)> {
        A::defaults().into_iter().chain(B::defaults()).collect()
    }

    fn rules(raw: &RawMap) -> Option<String> {
        A::rules(raw).or_else(|| B::rules(raw))
    }
}

#[cold]
fn flaws_of(found: [Option<ParamErrors>; 2]) -> ParamErrors {
    let mut flaws = ParamErrors::default();
    for one in found.into_iter().flatten() {
        flaws.add_under("", one);
    }
    flaws
}

/// As a value: the two share one object.
impl<A: Params, B: Params> Param for (A, B) {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(None),
            Raw::Map(map) => <Self as Params>::read(map).map(Some).map_err(|inner| {
                let mut flaws = ParamErrors::default();
                flaws.add_fields(inner);
                flaws
            }),
            _ => Err(ParamErrors::one(INVALID)),
        }
    }

    fn schema() -> serde_json::Value {
        object_schema(&<Self as Params>::describe())
    }
}
