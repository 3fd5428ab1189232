//! Numbers from short lists that stand for something.

use kernel::AccessLevel;
use serde_json::{Value, json};

use crate::extract::{Param, ParamErrors, Raw, params::NOT_LISTED};

/// How far a new default branch is protected: not at all (0) up to fully (2), or open to pushes of developers (1) or
/// to their merges (3).
#[derive(Clone, Copy, Debug)]
pub struct BranchProtection(pub i32);

impl Param for BranchProtection {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match i64::read(raw)? {
            None => Ok(None),
            Some(level @ 0..=3) => Ok(i32::try_from(level).ok().map(Self)),
            Some(_) => Err(ParamErrors::one(NOT_LISTED)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "enum": [0, 1, 2, 3] })
    }
}

/// The least role that somebody must have in what is listed.
#[derive(Clone, Copy, Debug)]
pub struct MinAccessLevel(pub AccessLevel);

impl Param for MinAccessLevel {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match AccessLevel::read(raw)? {
            Some(AccessLevel::NoAccess | AccessLevel::Admin) => Err(ParamErrors::one(NOT_LISTED)),
            level => Ok(level.map(Self)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "enum": [5, 10, 20, 30, 40, 50] })
    }
}
