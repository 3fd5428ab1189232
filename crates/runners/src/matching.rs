//! Matching of runners and jobs by runner type, tags and protected refs.

use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId, RunnerId},
};

use crate::runner::{Runner, RunnerAccess, RunnerType};

/// The properties of a runner that decide which jobs it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobMatcher {
    pub runner: RunnerId,
    /// Digest of its token.
    pub token_digest: String,
    /// When the token expires.
    pub token_expires_at: Option<Ts>,
    pub runner_type: RunnerType,
    pub group: Option<NamespaceId>,
    /// Of a project runner.
    pub projects: Vec<ProjectId>,
    pub active: bool,
    pub run_untagged: bool,
    pub protected_only: bool,
    pub tags: Vec<String>,
}

impl JobMatcher {
    pub fn new(runner: &Runner, projects: Vec<ProjectId>) -> Result<Self> {
        Ok(Self {
            runner: runner.id,
            token_digest: runner.token_digest.clone(),
            token_expires_at: runner.token_expires_at,
            runner_type: runner.runner_type,
            group: runner.group_id,
            projects,
            active: runner.active,
            run_untagged: runner.run_untagged,
            protected_only: runner.access_level == RunnerAccess::RefProtected,
            tags: runner.tag_list()?,
        })
    }
}

/// A project whose jobs wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueProject {
    pub project: ProjectId,
    /// The groups in which it lies.
    pub groups: Vec<NamespaceId>,
    /// Whether runners of the installation do its jobs.
    pub instance_runners: bool,
    /// Whether runners of its groups do.
    pub group_runners: bool,
    /// Whether it runs jobs at all: not if it is archived or CI/CD is disabled.
    pub runs_jobs: bool,
}

impl JobMatcher {
    /// Whether the runner does jobs of this project.
    pub fn serves(&self, home: &QueueProject) -> bool {
        let theirs = match self.runner_type {
            RunnerType::Instance => home.instance_runners,
            RunnerType::Group => {
                home.group_runners && self.group.is_some_and(|group| home.groups.contains(&group))
            }
            RunnerType::Project => self.projects.contains(&home.project),
        };
        self.active && home.runs_jobs && theirs
    }

    /// Whether a job of a project that it serves is one for this runner.
    pub fn takes(&self, tags: &[String], protected: bool) -> bool {
        (self.run_untagged || !tags.is_empty())
            && tags.iter().all(|tag| self.tags.contains(tag))
            && (protected || !self.protected_only)
    }
}

#[cfg(test)]
mod tests {
    use kernel::ids::{NamespaceId, ProjectId, RunnerId};

    use super::{JobMatcher, QueueProject};
    use crate::runner::RunnerType;

    fn taker(runner_type: RunnerType) -> JobMatcher {
        JobMatcher {
            runner: RunnerId(1),
            token_digest: String::new(),
            token_expires_at: None,
            runner_type,
            group: Some(NamespaceId(7)),
            projects: vec![ProjectId(1)],
            active: true,
            run_untagged: true,
            protected_only: false,
            tags: vec!["docker".to_owned(), "linux".to_owned()],
        }
    }

    fn home() -> QueueProject {
        QueueProject {
            project: ProjectId(1),
            groups: vec![NamespaceId(7), NamespaceId(3)],
            instance_runners: true,
            group_runners: true,
            runs_jobs: true,
        }
    }

    #[test]
    fn a_runner_serves_the_projects_of_its_kind() {
        let [instance, group, project] =
            [RunnerType::Instance, RunnerType::Group, RunnerType::Project].map(taker);
        let serves =
            |home: &QueueProject| [&instance, &group, &project].map(|runner| runner.serves(home));

        assert_eq!(serves(&home()), [true, true, true]);
        let elsewhere =
            QueueProject { project: ProjectId(2), groups: vec![NamespaceId(3)], ..home() };
        assert_eq!(serves(&elsewhere), [true, false, false]);
        assert_eq!(
            serves(&QueueProject { instance_runners: false, ..home() }),
            [false, true, true]
        );
        assert_eq!(serves(&QueueProject { group_runners: false, ..home() }), [true, false, true]);
        assert_eq!(serves(&QueueProject { runs_jobs: false, ..home() }), [false, false, false]);
        assert!(!JobMatcher { active: false, ..project }.serves(&home()));
    }

    #[test]
    fn a_runner_takes_jobs_whose_tags_it_has_all_of() {
        let tags = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let all = taker(RunnerType::Project);
        let tagged = JobMatcher { run_untagged: false, ..all.clone() };
        let guarded = JobMatcher { protected_only: true, ..all.clone() };
        for (wanted, protected, expected) in [
            (tags(&[]), false, [true, false, false]),
            (tags(&["docker"]), false, [true, true, false]),
            (tags(&["docker", "linux"]), true, [true, true, true]),
            (tags(&["docker", "arm"]), true, [false, false, false]),
            (tags(&["Docker"]), true, [false, false, false]),
        ] {
            let takes = [&all, &tagged, &guarded].map(|runner| runner.takes(&wanted, protected));
            assert_eq!(takes, expected, "{wanted:?}");
        }
    }
}
