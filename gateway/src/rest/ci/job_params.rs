//! Parameters of job lists and jobs.

use std::collections::BTreeSet;

use ci::{
    Status,
    pipeline::{PipelineVariable, VariableType},
};
use kernel::{Error, Result, TextEnum as _};
use serde_json::Value;

use crate::{
    extract::{Param, ParamErrors, Raw},
    params,
};

/// One status or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses(pub Vec<Status>);

impl Param for Statuses {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let named = match raw {
            Raw::Null => return Ok(None),
            Raw::List(_) => Vec::<Status>::read(raw)?.unwrap_or_default(),
            one => match Status::read(one)? {
                Some(status) => vec![status],
                None => return Ok(None),
            },
        };
        let mut seen = BTreeSet::new();
        Ok(Some(Self(named.into_iter().filter(|status| seen.insert(*status)).collect())))
    }

    fn schema() -> Value {
        serde_json::json!({ "type": "array", "items": { "type": "string", "enum": Status::ALL } })
    }
}

params! {
    /// A variable for a job that is played by hand.
    pub struct JobVariable {
        key: String,
        value: String,
    }
}

/// Names and values; a name comes once.
pub fn pairs(variables: Vec<JobVariable>) -> Result<Vec<(String, String)>> {
    let all: Vec<PipelineVariable> =
        variables.into_iter().map(|one| PipelineVariable::plain(one.key, one.value)).collect();
    PipelineVariable::ensure_sound(&all)
        .map_err(|_unsound| Error::bad_request().because("Unplayable Job"))?;
    Ok(all.into_iter().map(|one| (one.key, one.value)).collect())
}

params! {
    /// A variable for a pipeline.
    pub struct NewPipelineVariable {
        key: String,
        value: String,
        variable_type: VariableType = VariableType::EnvVar,
    }
}

impl From<NewPipelineVariable> for PipelineVariable {
    fn from(new: NewPipelineVariable) -> Self {
        Self { variable_type: new.variable_type, ..Self::plain(new.key, new.value) }
    }
}

crate::param_enums! { VariableType }
