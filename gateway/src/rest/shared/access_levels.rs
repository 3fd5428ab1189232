//! Access levels as parameters of protections.

use kernel::AccessLevel::{self, Admin, Developer, Maintainer, NoAccess};
use serde_json::{Value, json};

use crate::extract::{Param, ParamErrors, Raw, params::NOT_LISTED};

/// An access level that a protection may name; `NOBODY` and `ADMINS` say whether "no access" and "administrators" are
/// among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level<const NOBODY: bool, const ADMINS: bool>(pub AccessLevel);

/// Who may push and merge.
pub type PushLevel = Level<true, true>;
/// Who may unprotect a branch or deploy to an environment.
pub type UnprotectLevel = Level<false, true>;
/// Who may create tags.
pub type CreateLevel = Level<true, false>;

impl<const NOBODY: bool, const ADMINS: bool> Level<NOBODY, ADMINS> {
    fn listed() -> Vec<AccessLevel> {
        let all = [(NoAccess, NOBODY), (Developer, true), (Maintainer, true), (Admin, ADMINS)];
        all.into_iter().filter(|(_, listed)| *listed).map(|(level, _)| level).collect()
    }
}

impl<const NOBODY: bool, const ADMINS: bool> Param for Level<NOBODY, ADMINS> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match AccessLevel::read(raw)? {
            None => Ok(None),
            Some(level) if Self::listed().contains(&level) => Ok(Some(Self(level))),
            Some(_) => Err(ParamErrors::one(NOT_LISTED)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "enum": Self::listed() })
    }
}
