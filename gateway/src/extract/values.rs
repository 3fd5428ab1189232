//! The types that parameters have, and how each coerces what clients send.

use forge::files::Upload;
use kernel::{AccessLevel, Ts};
use serde_json::{Value, json};
use time::Date;

use super::{
    params::{EMPTY, INVALID, NOT_LISTED, Param, ParamErrors, elements},
    raw::Raw,
};

fn invalid<T>() -> Result<T, ParamErrors> {
    Err(ParamErrors::one(INVALID))
}

/// Text, with numbers and booleans written out.
fn text_of(raw: &Raw) -> Result<Option<String>, ParamErrors> {
    match raw {
        Raw::Null => Ok(None),
        Raw::Bool(value) => Ok(Some(value.to_string())),
        Raw::Number(value) => Ok(Some(value.to_string())),
        Raw::Text(value) => Ok(Some(value.clone())),
        Raw::Bytes(_) | Raw::List(_) | Raw::Map(_) | Raw::File(_) | Raw::Attached(_) => invalid(),
    }
}

impl Param for String {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match text_of(raw)? {
            // No column, path or ref can hold it.
            Some(text) if text.contains('\0') => invalid(),
            text => Ok(text),
        }
    }

    /// It was given: what it may hold is for whoever reads it to say, as of an empty text.
    fn null() -> Option<Self> {
        Some(Self::new())
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// Text in which every byte is allowed: the content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawText(pub String);

impl Param for RawText {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        Ok(text_of(raw)?.map(Self))
    }

    fn null() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// Text that must not be blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonEmpty(pub String);

impl Param for NonEmpty {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match String::read(raw)? {
            Some(text) if !text.trim().is_empty() => Ok(Some(Self(text))),
            _ => Err(ParamErrors::one(EMPTY)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }
}

/// A value that must be given, and may be given as null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrNull<T>(pub Option<T>);

impl<T: Param> Param for OrNull<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(Some(Self(None))),
            given => Ok(T::read(given)?.map(|value| Self(Some(value)))),
        }
    }

    fn schema() -> Value {
        T::schema()
    }
}

/// A value that may be left out, but not be given as a blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonBlank<T>(pub T);

impl<T: Param> Param for NonBlank<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match T::read(raw)? {
            Some(value) => Ok(Some(Self(value))),
            None => Err(ParamErrors::one(EMPTY)),
        }
    }

    fn schema() -> Value {
        T::schema()
    }
}

impl Param for i64 {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(None),
            Raw::Number(value) => value.as_i64().map(Some).ok_or(ParamErrors::one(INVALID)),
            Raw::Text(value) if value.trim().is_empty() => Ok(None),
            Raw::Text(value) => match value.trim().parse() {
                Ok(value) => Ok(Some(value)),
                Err(_) => invalid(),
            },
            _ => invalid(),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer" })
    }
}

/// An integer above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive(pub i64);

impl Param for Positive {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match i64::read(raw)? {
            Some(value) if value < 1 => Err(ParamErrors::one(NOT_LISTED)),
            value => Ok(value.map(Self)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1 })
    }
}

/// An integer from zero on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonNegative(pub i64);

impl Param for NonNegative {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match i64::read(raw)? {
            Some(value) if value < 0 => Err(ParamErrors::one(NOT_LISTED)),
            value => Ok(value.map(Self)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 0 })
    }
}

impl Param for f64 {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(None),
            Raw::Number(value) => value.as_f64().map(Some).ok_or(ParamErrors::one(INVALID)),
            Raw::Text(value) if value.trim().is_empty() => Ok(None),
            Raw::Text(value) => match value.trim().parse::<Self>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => invalid(),
            },
            _ => invalid(),
        }
    }

    fn schema() -> Value {
        json!({ "type": "number" })
    }
}

impl Param for bool {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let text = match raw {
            Raw::Null => return Ok(None),
            Raw::Bool(value) => return Ok(Some(*value)),
            Raw::Number(value) => value.to_string(),
            Raw::Text(value) => value.clone(),
            _ => return invalid(),
        };
        match text.as_str() {
            "" => Ok(None),
            "1" | "t" | "true" | "T" | "True" | "TRUE" | "on" | "On" | "ON" | "y" | "yes" | "Y"
            | "Yes" | "YES" => Ok(Some(true)),
            "0" | "f" | "false" | "F" | "False" | "FALSE" | "off" | "Off" | "OFF" | "n" | "no"
            | "N" | "No" | "NO" => Ok(Some(false)),
            _ => invalid(),
        }
    }

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

impl Param for Ts {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(None),
            Raw::Text(text) if text.trim().is_empty() => Ok(None),
            Raw::Text(text) => Ts::parse(text).map(Some).ok_or(ParamErrors::one(INVALID)),
            _ => invalid(),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "date-time" })
    }
}

impl Param for Date {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(None),
            Raw::Text(text) if text.trim().is_empty() => Ok(None),
            Raw::Text(text) => {
                Ts::parse(text).map(|at| Some(at.date())).ok_or(ParamErrors::one(INVALID))
            }
            _ => invalid(),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "date" })
    }
}

impl Param for AccessLevel {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match i64::read(raw)? {
            None => Ok(None),
            Some(number) => AccessLevel::find(number).map(Some).ok_or(ParamErrors::one(NOT_LISTED)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "integer", "enum": AccessLevel::ALL })
    }
}

impl Param for Upload {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::File(upload) => Ok(Some(upload.clone())),
            Raw::Null => Ok(None),
            _ => invalid(),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "binary" })
    }
}

/// A list that may also come as one text with commas; each element is trimmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csv<T>(pub Vec<T>);

impl<T: Param> Param for Csv<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let parts: Vec<Raw> = match raw {
            Raw::Null => return Ok(Some(Self(Vec::new()))),
            Raw::List(_) | Raw::Map(_) => elements(raw)?.into_iter().flat_map(split).collect(),
            Raw::File(_) | Raw::Attached(_) | Raw::Bytes(_) => return invalid(),
            single => split(single),
        };
        let values: Result<Vec<Option<T>>, ParamErrors> = parts.iter().map(T::read).collect();
        Ok(Some(Self(values?.into_iter().flatten().collect())))
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}

fn split(raw: &Raw) -> Vec<Raw> {
    match raw {
        Raw::Text(text) => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| Raw::Text(part.to_owned()))
            .collect(),
        other => vec![other.clone()],
    }
}

/// A change to a stored value: left out, cleared by a blank or null, or set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Change<T> {
    /// As an update of a nullable column.
    pub fn into_update(self) -> Option<Option<T>> {
        match self {
            Self::Keep => None,
            Self::Clear => Some(None),
            Self::Set(value) => Some(Some(value)),
        }
    }
}

impl<T: Param> Param for Change<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        match raw {
            Raw::Null => Ok(Some(Self::Clear)),
            Raw::Text(text) if text.is_empty() => Ok(Some(Self::Clear)),
            given => Ok(Some(T::read(given)?.map_or(Self::Clear, Self::Set))),
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::Keep)
    }

    const OPTIONAL: bool = true;

    fn schema() -> Value {
        T::schema()
    }
}

/// Lets enums that are stored and sent as text be parameters.
#[macro_export]
macro_rules! param_enums { ($($name:ty),* $(,)?) => { $(
    impl $crate::extract::Param for $name {
        fn read(raw: &$crate::extract::Raw) -> Result<Option<Self>, $crate::extract::ParamErrors> {
            match <String as $crate::extract::Param>::read(raw)? {
                None => Ok(None),
                Some(text) => <Self as kernel::TextEnum>::find(&text)
                    .map(Some)
                    .ok_or($crate::extract::ParamErrors::one($crate::extract::params::NOT_LISTED)),
            }
        }
        fn schema() -> serde_json::Value {
            serde_json::json!({ "type": "string", "enum": <Self as kernel::TextEnum>::ALL })
        }
    }
)* } }

/// Lets ids be parameters.
macro_rules! param_ids { ($($name:ident),* $(,)?) => { $(
    impl Param for kernel::ids::$name {
        fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
            Ok(i64::read(raw)?.map(Self))
        }
        fn schema() -> Value {
            i64::schema()
        }
    }
)* } }

param_ids! {
    BulkImportId, BulkImportEntityId,
    UserId, NamespaceId, ProjectId, TokenId, ApplicationId, MemberId, AccessRecordId, EmailId, SshKeyId, GpgKeyId,
    CommitNoteId, ReleaseLinkId, LabelId, MilestoneId, IssueId, NoteId, PipelineId, JobId, TodoId,
    PipelineScheduleId, TriggerId, RunnerId,
    VulnerabilityId, VulnerabilityExportId, AlertId, AlertIntegrationId, MetricImageId,
    EnvironmentId, DeploymentId,
    FreezePeriodId, EnvironmentAccessId,
    ApprovalRuleId, ProtectedBranchId, MergeRequestVersionId,
    HookId, HookLogId, IntegrationId,
    GeoNodeId,
}
param_enums! { kernel::Visibility, kernel::access::FeatureAccess, org::token::Scope }

#[cfg(test)]
mod tests;
