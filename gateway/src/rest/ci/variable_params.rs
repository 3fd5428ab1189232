//! Parameters of the CI/CD variable endpoints.

use ci::variable::{NewVariable, VariableChange, VariableType};
use secrets::Secret;

use crate::{
    extract::{Change, Param, ParamErrors, Raw},
    params,
};

/// Environment scope that matches every job.
const EVERYWHERE: &str = "*";

params! {
    /// Selects one of several variables with the same key.
    pub struct VariableFilter {
        environment_scope: Option<String>,
    }
}

params! {
    pub struct OneVariable {
        key: String,
        /// Selects one of several variables with the same key: `filter[environment_scope]`.
        filter: Option<VariableFilter>,
    }
}

impl OneVariable {
    pub fn scope(&self) -> Option<String> {
        self.filter.as_ref()?.environment_scope.clone()
    }
}

params! {
    pub struct CreateVariable {
        /// At most 255 letters, digits and underscores.
        key: String,
        value: Value,
        variable_type: VariableType = VariableType::EnvVar,
        /// Whether only pipelines for protected branches and tags get the variable.
        protected: bool = false,
        /// Whether the value is masked in job logs. It must then be a single line of at least 8 characters.
        masked: bool = false,
        /// Whether the variable is masked, and its value never returned by the API.
        masked_and_hidden: bool = false,
        /// Whether the value is used as is, without expanding variables in it.
        raw: bool = false,
        /// Environment name, or a pattern with `*`, of the jobs that get the variable. Default: all jobs.
        environment_scope: String = EVERYWHERE.to_owned(),
        description: Option<String>,
    }
}

impl From<CreateVariable> for NewVariable {
    fn from(params: CreateVariable) -> Self {
        Self {
            kind: params.variable_type,
            key: params.key,
            value: params.value.0,
            protected: params.protected,
            masked: params.masked || params.masked_and_hidden,
            hidden: params.masked_and_hidden,
            raw: params.raw,
            environment_scope: params.environment_scope,
            description: params.description,
        }
    }
}

params! {
    pub struct ChangeVariable {
        key: String,
        /// Selects one of several variables with the same key: `filter[environment_scope]`.
        filter: Option<VariableFilter>,
        value: Option<Value>,
        variable_type: Option<VariableType>,
        /// Whether only pipelines for protected branches and tags get the variable.
        protected: Option<bool>,
        /// Whether the value is masked in job logs. It must then be a single line of at least 8 characters.
        masked: Option<bool>,
        /// Whether the value is used as is, without expanding variables in it.
        raw: Option<bool>,
        /// Environment name, or a pattern with `*`, of the jobs that get the variable. Default: all jobs.
        environment_scope: Option<String>,
        description: Change<String>,
    }
}

impl ChangeVariable {
    /// Returns the key, the environment scope to select by, and the change.
    pub fn into_change(self) -> (String, Option<String>, VariableChange) {
        let change = VariableChange {
            kind: self.variable_type,
            value: self.value.map(|value| value.0),
            protected: self.protected,
            masked: self.masked,
            raw: self.raw,
            environment_scope: self.environment_scope,
            description: self.description.into_update(),
        };
        (self.key, self.filter.and_then(|filter| filter.environment_scope), change)
    }
}

params! {
    pub struct OneInstanceVariable {
        key: String,
    }
}

params! {
    pub struct CreateInstanceVariable {
        /// At most 255 letters, digits and underscores.
        key: String,
        value: Value,
        variable_type: VariableType = VariableType::EnvVar,
        /// Whether only pipelines for protected branches and tags get the variable.
        protected: bool = false,
        /// Whether the value is masked in job logs. It must then be a single line of at least 8 characters.
        masked: bool = false,
        /// Whether the value is used as is, without expanding variables in it.
        raw: bool = false,
        description: Option<String>,
    }
}

impl From<CreateInstanceVariable> for NewVariable {
    fn from(params: CreateInstanceVariable) -> Self {
        Self {
            kind: params.variable_type,
            key: params.key,
            value: params.value.0,
            protected: params.protected,
            masked: params.masked,
            hidden: false,
            raw: params.raw,
            environment_scope: EVERYWHERE.to_owned(),
            description: params.description,
        }
    }
}

params! {
    pub struct ChangeInstanceVariable {
        key: String,
        value: Option<Value>,
        variable_type: Option<VariableType>,
        /// Whether only pipelines for protected branches and tags get the variable.
        protected: Option<bool>,
        /// Whether the value is masked in job logs. It must then be a single line of at least 8 characters.
        masked: Option<bool>,
        /// Whether the value is used as is, without expanding variables in it.
        raw: Option<bool>,
        description: Change<String>,
    }
}

impl ChangeInstanceVariable {
    pub fn into_change(self) -> (String, VariableChange) {
        let change = VariableChange {
            kind: self.variable_type,
            value: self.value.map(|value| value.0),
            protected: self.protected,
            masked: self.masked,
            raw: self.raw,
            environment_scope: None,
            description: self.description.into_update(),
        };
        (self.key, change)
    }
}

/// A parameter with a secret value; its `Debug` output does not show it.
#[derive(Clone, Debug)]
pub struct Value(pub Secret);

impl Param for Value {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        Ok(String::read(raw)?.map(|text| Self(Secret::new(text))))
    }

    fn null() -> Option<Self> {
        String::null().map(|text| Self(Secret::new(text)))
    }

    fn schema() -> serde_json::Value {
        String::schema()
    }
}
