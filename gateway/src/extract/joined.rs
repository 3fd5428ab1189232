//! Parameters that several endpoints share, put before those that each has of its own.

use super::{
    params::{Flaws, ParamDoc, Params},
    raw::RawMap,
};

impl<A: Params, B: Params> Params for (A, B) {
    const PAGED: bool = A::PAGED || B::PAGED;
    const KEYSET: bool = A::KEYSET || B::KEYSET;

    fn read(raw: &RawMap) -> Result<Self, Flaws> {
        match (A::read(raw), B::read(raw)) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (first, second) => {
                let mut flaws = Flaws::default();
                for found in [first.err(), second.err()].into_iter().flatten() {
                    flaws.add_under("", found);
                }
                Err(flaws)
            }
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
