//! Parameters that say whom a protection lets in: levels, and hashes of a role, a person or a group.

use kernel::ids::{AccessRecordId, NamespaceId, UserId};
use repo::protection::{Holder, actions::AccessChange};
use serde_json::{Value, json};

use crate::{
    extract::{
        Param, ParamErrors, Raw, RawMap,
        params::{INVALID, MISSING, field},
    },
    rest::shared::access_levels::Level,
};

/// A hash with exactly one of `user_id`, `group_id` and `access_level`.
#[derive(Clone, Copy, Debug)]
pub struct AllowedHolder<const NOBODY: bool, const ADMINS: bool>(pub Holder);

pub type AllowedToPush = AllowedHolder<true, true>;
pub type AllowedToUnprotect = AllowedHolder<false, true>;
pub type AllowedToCreate = AllowedHolder<true, false>;

const HOLDERS: [&str; 3] = ["user_id", "group_id", "access_level"];

impl<const NOBODY: bool, const ADMINS: bool> Param for AllowedHolder<NOBODY, ADMINS> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Raw::Map(map) = raw else { return Err(ParamErrors::one(INVALID)) };
        holder::<NOBODY, ADMINS>(map).map(|holder| Some(Self(holder)))
    }

    fn schema() -> Value {
        holder_schema::<NOBODY, ADMINS>()
    }
}

/// As [`AllowedHolder`], where `id` names the record that is to change, and `_destroy` takes it away.
#[derive(Clone, Copy, Debug)]
pub struct ChangedAccess<const NOBODY: bool, const ADMINS: bool>(pub AccessChange);

pub type ChangedPush = ChangedAccess<true, true>;
pub type ChangedUnprotect = ChangedAccess<false, true>;

impl<const NOBODY: bool, const ADMINS: bool> Param for ChangedAccess<NOBODY, ADMINS> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Raw::Map(map) = raw else { return Err(ParamErrors::one(INVALID)) };
        let mut inner = ParamErrors::default();
        let id = field::<Option<AccessRecordId>>(map, "id", None, &mut inner).flatten();
        let destroy = field::<bool>(map, "_destroy", Some(false), &mut inner).unwrap_or_default();
        if destroy && id.is_none() && inner.is_empty() {
            inner.add("id", MISSING);
        }
        if !inner.is_empty() {
            let mut flaws = ParamErrors::default();
            flaws.add_fields(inner);
            return Err(flaws);
        }
        let change = match id {
            Some(id) if destroy => AccessChange::Remove(id),
            Some(id) => AccessChange::Set(id, holder::<NOBODY, ADMINS>(map)?),
            None => AccessChange::Add(holder::<NOBODY, ADMINS>(map)?),
        };
        Ok(Some(Self(change)))
    }

    fn schema() -> Value {
        let mut schema = holder_schema::<NOBODY, ADMINS>();
        schema["properties"]["id"] = i64::schema();
        schema["properties"]["_destroy"] = bool::schema();
        schema
    }
}

fn holder<const NOBODY: bool, const ADMINS: bool>(map: &RawMap) -> Result<Holder, ParamErrors> {
    let mut inner = ParamErrors::default();
    let user = field::<Option<UserId>>(map, "user_id", None, &mut inner).flatten();
    let group = field::<Option<NamespaceId>>(map, "group_id", None, &mut inner).flatten();
    let level =
        field::<Option<Level<NOBODY, ADMINS>>>(map, "access_level", None, &mut inner).flatten();
    if inner.is_empty() {
        match (user, group, level) {
            (Some(user), None, None) => return Ok(Holder::User(user)),
            (None, Some(group), None) => return Ok(Holder::Group(group)),
            (None, None, Some(level)) => return Ok(Holder::Role(level.0)),
            (None, None, None) => {
                inner.add_together(&HOLDERS, "are missing, exactly one parameter must be provided")
            }
            _ => {
                let given = HOLDERS.into_iter().filter(|name| map.has(name));
                inner.add_together(&given.collect::<Vec<_>>(), "are mutually exclusive");
            }
        }
    }
    let mut flaws = ParamErrors::default();
    flaws.add_fields(inner);
    Err(flaws)
}

fn holder_schema<const NOBODY: bool, const ADMINS: bool>() -> Value {
    json!({
        "type": "object",
        "properties": {
            "user_id": i64::schema(),
            "group_id": i64::schema(),
            "access_level": Level::<NOBODY, ADMINS>::schema(),
        },
    })
}
