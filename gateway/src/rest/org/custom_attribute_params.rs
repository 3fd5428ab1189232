//! The filter of lists by custom attributes.

use entities::org::custom_attribute::CustomAttributeEntity;
use kernel::Actor;
use org::custom_attribute::CustomAttribute;
use serde_json::{Value, json};

use crate::extract::{Param, ParamErrors, Raw, params::INVALID};

/// `custom_attributes[key]=value`: values that must all match.
#[derive(Clone, Debug)]
pub struct AttributeFilter(Vec<CustomAttribute>);

impl AttributeFilter {
    /// For whom this means nothing, it is as if it had not been asked.
    pub fn of(given: Option<Self>, actor: Actor) -> Vec<CustomAttribute> {
        given.filter(|_| actor.admin).map(|wanted| wanted.0).unwrap_or_default()
    }
}

impl Param for AttributeFilter {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let map = match raw {
            Raw::Null => return Ok(None),
            Raw::Map(map) => map,
            _ => return Err(ParamErrors::one(INVALID)),
        };
        let mut wanted = Vec::new();
        for (key, value) in map.iter() {
            let value = String::read(value)?.unwrap_or_default();
            if key.contains('\0') {
                return Err(ParamErrors::one(INVALID));
            }
            wanted.push(CustomAttribute { key: key.to_owned(), value });
        }
        Ok(Some(Self(wanted)))
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}

pub fn entities(notes: Vec<CustomAttribute>) -> Vec<CustomAttributeEntity> {
    notes.into_iter().map(Into::into).collect()
}
