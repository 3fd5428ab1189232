//! A pipeline as it is to be made: plain data, for whoever stores it.

use std::{borrow::Cow, sync::Arc};

use super::{
    entry::{Kind, Need},
    includes::Include,
    options::{Environment, Options},
};

kernel::text_enum! {
    /// The condition under which a job starts once its dependencies have ended.
    pub enum When {
        OnSuccess = "on_success",
        OnFailure = "on_failure",
        Always = "always",
        Manual = "manual",
        Delayed = "delayed",
    }
}

#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// With variables written out.
    pub name: Option<String>,
    /// Those that hold jobs, in their order.
    pub stages: Vec<String>,
    /// By stage, and in a stage in the order of the configuration.
    pub jobs: Vec<PlannedJob>,
    pub warnings: Vec<String>,
    pub includes: Vec<Include>,
    pub auto_cancel: AutoCancel,
}

/// The `auto_cancel` settings of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutoCancel {
    /// `conservative`, `interruptible` or `none`.
    pub on_new_commit: Option<String>,
    /// `none` or `all`.
    pub on_job_failure: Option<String>,
}

#[derive(Clone, Debug)]
pub struct PlannedJob {
    pub name: Arc<str>,
    pub kind: Kind,
    /// Its place in the plan's stages.
    pub stage: usize,
    pub when: When,
    /// Seconds from when it could begin, for a delayed job.
    pub start_in: Option<u64>,
    pub allow_failure: bool,
    /// `None`: it waits for all earlier stages. None at all: it begins at once.
    pub needs: Option<Arc<[Need]>>,
    /// With variables written out; `None` when none were given.
    pub tags: Option<Vec<String>>,
    pub environment: Option<PlannedEnvironment>,
    pub interruptible: Option<bool>,
    /// Those of the configuration alone.
    pub variables: Vec<YamlVariable>,
    /// With variables written out.
    pub resource_group: Option<String>,
    /// A pattern without its slashes.
    pub coverage: Option<String>,
    /// Which of the parallel jobs it is, from one.
    pub instance: Option<u64>,
    /// What all copies of a parallel job share, so without their numbers.
    pub options: Arc<Options>,
}

impl PlannedJob {
    /// The options of this copy alone.
    pub fn own_options(&self) -> Cow<'_, Options> {
        match self.instance {
            None => Cow::Borrowed(self.options.as_ref()),
            instance => Cow::Owned(Options { instance, ..Options::clone(&self.options) }),
        }
    }

    /// How often it is tried again when it fails.
    pub fn retries(&self) -> u8 {
        self.options.retry.as_ref().and_then(|retry| retry.max).unwrap_or_default()
    }

    /// The seconds it may take, when it says so itself.
    pub fn timeout(&self) -> Option<u64> {
        self.options.job_timeout
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlannedEnvironment {
    /// As written.
    pub written: Environment,
    /// Its name with variables written out, by which it is found or made.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlVariable {
    pub key: Arc<str>,
    pub value: Arc<str>,
    /// Whether names in the value are left alone.
    pub raw: bool,
}
