//! The job payload for runners and the scheduler, stored as JSON and shared by equal jobs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How often a job may be tried again by itself.
pub(crate) const MOST_RETRIES: i64 = 2;
/// Copies of a job.
pub(crate) const MOST_COPIES: u64 = 200;

/// Keys that were not given are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub services: Option<Vec<Service>>,
    /// Exit codes with which the job may fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_failure_criteria: Option<AllowFailureCriteria>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Artifacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Vec<Cache>>,
    /// Jobs of this pipeline whose artifacts are fetched; `None` for those of all earlier stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    /// Jobs of other pipelines whose artifacts are fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_dependencies: Option<Vec<CrossDependency>>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_timeout: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_script: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_script: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
    /// Which of the parallel jobs it is, from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<u64>,
    /// As written, for a delayed job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The pipeline whose status a bridge takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge_needs: Option<BridgeNeed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publish: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_tokens: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dast_configuration: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Image {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_policy: Option<Vec<String>>,
    /// What only one kind of executor reads: `docker`, `kubernetes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor_opts: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Service {
    #[serde(flatten)]
    pub image: Image,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<serde_json::Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowFailureCriteria {
    pub exit_codes: Vec<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Artifacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untracked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// As written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expose_as: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// By kind, a list of paths or what a coverage report needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<serde_json::Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// With its prefix and the state of its files, where it has those.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untracked: Option<bool>,
    pub policy: String,
    pub when: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprotect: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback_keys: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrossDependency {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    pub job: String,
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    pub artifacts: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeNeed {
    pub pipeline: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_get_sources_script: Option<Vec<String>>,
}

/// As written: names and addresses may hold variables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_stop: Option<String>,
    /// `start` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_stop_in: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment_tier: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_codes: Option<Vec<i64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parallel {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Dimensions>>,
    pub total: u64,
}

/// One mapping of a matrix: each variable with its values, in the order written.
pub type Dimensions = indexmap::IndexMap<String, Vec<String>>;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trigger {
    /// Of a pipeline in another project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Of a child pipeline: what its configuration includes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<Forward>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Forward {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaml_variables: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline_variables: Option<bool>,
}
