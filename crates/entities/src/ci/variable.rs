//! CI/CD variables.

use ci::variable::{Variable, VariableType};
use kernel::Result;
use secrets::Vault;
use serde::Serialize;
use utoipa::ToSchema;

/// CI/CD variable of a project or group.
#[derive(Serialize, ToSchema)]
pub struct VariableEntity {
    #[schema(value_type = String)]
    pub variable_type: VariableType,
    pub key: String,
    /// Null if the variable is hidden.
    pub value: Option<String>,
    pub hidden: bool,
    pub protected: bool,
    pub masked: bool,
    pub raw: bool,
    pub environment_scope: String,
    pub description: Option<String>,
}

impl VariableEntity {
    pub fn new(variable: Variable, vault: &Vault) -> Result<Self> {
        let value = match variable.hidden {
            true => None,
            false => Some(variable.value(vault)?.into_revealed()),
        };
        Ok(Self {
            variable_type: variable.kind,
            key: variable.key,
            value,
            hidden: variable.hidden,
            protected: variable.protected,
            masked: variable.masked,
            raw: variable.raw,
            environment_scope: variable.environment_scope,
            description: variable.description,
        })
    }
}

/// CI/CD variable of the instance.
#[derive(Serialize, ToSchema)]
pub struct InstanceVariableEntity {
    #[schema(value_type = String)]
    pub variable_type: VariableType,
    pub key: String,
    pub value: String,
    pub protected: bool,
    pub masked: bool,
    pub raw: bool,
    pub description: Option<String>,
}

impl InstanceVariableEntity {
    pub fn new(variable: Variable, vault: &Vault) -> Result<Self> {
        Ok(Self {
            variable_type: variable.kind,
            value: variable.value(vault)?.into_revealed(),
            key: variable.key,
            protected: variable.protected,
            masked: variable.masked,
            raw: variable.raw,
            description: variable.description,
        })
    }
}
