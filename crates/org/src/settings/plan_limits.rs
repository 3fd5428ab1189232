//! Plan limits, with the names and defaults of the API.

use kernel::Faults;
use serde::{Deserialize, Serialize};

/// Defines the limits with their defaults, and says of all of them at once what is wrong.
macro_rules! plan_limits {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal,)+) => {
        /// Limits of the one plan that there is. Kept with the settings; 0 is no limit unless a limit says otherwise.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct PlanLimits {
            $($(#[doc = $doc])+ pub $name: i64,)+
        }

        impl Default for PlanLimits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl PlanLimits {
            /// What of these limits cannot be.
            pub fn faults(&self) -> Faults {
                let mut faults = Faults::default();
                for (name, limit) in [$((stringify!($name), self.$name),)+] {
                    if limit < 0 {
                        faults.add(name, "must be greater than or equal to 0");
                    }
                }
                faults
            }

            /// The limits that are others afterwards: the name, the limit before and afterwards.
            pub(super) fn changes(&self, after: &Self) -> Vec<(&'static str, i64, i64)> {
                let limits = [$((stringify!($name), self.$name, after.$name),)+];
                limits.into_iter().filter(|(_, from, to)| from != to).collect()
            }
        }
    };
}

plan_limits! {
    /// Jobs in all pipelines of a project that have not ended.
    ci_active_jobs = 0,
    /// Variables of the installation.
    ci_instance_level_variables = 25,
    /// Megabytes of the log of a job.
    ci_jobs_trace_size_limit = 100,
    /// Megabytes of an artifact of type `lsif`; with 0 that of any artifact.
    ci_max_artifact_size_lsif = 200,
    /// Jobs that one job may need; with 0 none.
    ci_needs_size_limit = 50,
    /// Jobs with an environment in one pipeline.
    ci_pipeline_deployments = 500,
    /// Schedules of a project.
    ci_pipeline_schedules = 10,
    /// Jobs of one pipeline; with 0 as many as the server can make at once.
    ci_pipeline_size = 0,
    /// Runners of a group, stale ones aside.
    ci_registered_group_runners = 1_000,
    /// Runners of a project, stale ones aside.
    ci_registered_project_runners = 1_000,
    /// Bytes of a dotenv report.
    dotenv_size = 5_120,
    /// Variables in a dotenv report.
    dotenv_variables = 20,
    /// Variables of a group.
    group_ci_variables = 30_000,
    /// Pipelines that made one another.
    pipeline_hierarchy_size = 1_000,
    /// Trigger tokens of a project.
    pipeline_triggers = 25_000,
    /// Variables of a project.
    project_ci_variables = 8_000,
}

#[cfg(test)]
mod tests {
    use super::PlanLimits;

    #[test]
    fn a_limit_is_never_negative_and_an_older_row_has_the_defaults() {
        let older: PlanLimits = serde_json::from_str(r#"{"ci_pipeline_schedules":3}"#).unwrap();
        assert_eq!((older.ci_pipeline_schedules, older.pipeline_triggers), (3, 25_000));
        assert!(older.faults().is_empty());
        let negative = PlanLimits { dotenv_size: -1, ..older };
        let told: Vec<String> =
            negative.faults().into_fields().into_iter().map(|(name, _)| name).collect();
        assert_eq!(told, ["dotenv_size"]);
    }

    #[test]
    fn only_limits_with_another_value_are_changes() {
        let before = PlanLimits::default();
        assert!(before.changes(&before).is_empty());
        let after = PlanLimits { dotenv_size: 7, ..before.clone() };
        let told = before.changes(&after);
        assert_eq!(told, [("dotenv_size", before.dotenv_size, 7)]);
    }
}
