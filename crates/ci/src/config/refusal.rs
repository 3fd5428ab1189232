//! Reasons for which no pipeline is created.

use kernel::Error;

use super::plan::Plan;

/// Reasons for which a configuration creates no pipeline.
#[derive(Debug)]
pub enum Refusal {
    /// It is broken: all problems of its parts, or the first of another kind.
    Invalid(Vec<String>),
    /// What jobs ask for cannot be had for this ref.
    Unmet(Vec<String>),
    /// There is more of something than a pipeline may have.
    OverLimit { reason: &'static str, sentence: String },
    /// Its workflow wants none.
    Filtered,
    /// No job is left, or none outside of the stages at the ends; with those there are.
    Empty(Box<Plan>),
    /// Something could not be asked.
    Fault(Error),
}

impl Refusal {
    /// The project has too many active jobs for the pipeline.
    pub fn too_many_active_jobs() -> Self {
        Self::OverLimit {
            reason: "job_activity_limit_exceeded",
            sentence:
                "Project exceeded the allowed number of jobs in active pipelines. Retry later."
                    .to_owned(),
        }
    }

    /// The one sentence that a pipeline keeps, or that answers who asked for it.
    pub fn sentence(&self) -> String {
        match self {
            Self::Invalid(problems) => {
                problems.first().map(|problem| plain(problem)).unwrap_or_default()
            }
            Self::Unmet(problems) => plain(&problems.join("\n")),
            Self::OverLimit { sentence, .. } => plain(sentence),
            Self::Filtered => "Pipeline filtered out by workflow rules.".to_owned(),
            Self::Empty(_) => "No stages / jobs for this pipeline.".to_owned(),
            Self::Fault(error) => error.to_string(),
        }
    }

    /// Whether a pipeline without jobs tells of it. Else nothing is stored.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Invalid(_) | Self::Unmet(_) | Self::OverLimit { .. })
    }

    /// The reason for which such a pipeline has failed.
    pub fn failure_reason(&self) -> &'static str {
        match self {
            Self::OverLimit { reason, .. } => reason,
            _ => "config_error",
        }
    }
}

impl From<StepFailure> for Refusal {
    fn from(stop: StepFailure) -> Self {
        match stop {
            StepFailure::Problem(problem) => Self::Unmet(vec![problem]),
            StepFailure::Fault(error) => Self::Fault(error),
        }
    }
}

/// An error that ends a step: a problem of the configuration, or a failure of a dependency.
#[derive(Debug)]
pub(super) enum StepFailure {
    Problem(String),
    Fault(Error),
}

impl StepFailure {
    pub(super) fn problem(text: impl Into<String>) -> Self {
        Self::Problem(text.into())
    }

    pub(super) fn late() -> Self {
        Self::problem("Request timed out when fetching configuration files.")
    }

    /// More is written out than a compilation may make.
    pub(super) fn too_big() -> Self {
        Self::problem(super::yaml::Fault::TooBig.to_string())
    }

    pub(super) fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Problem(problem) => Self::Problem(change(problem)),
            fault @ Self::Fault(_) => fault,
        }
    }

    /// As a problem of the configuration itself.
    pub(super) fn invalid(self) -> Refusal {
        match self {
            Self::Problem(problem) => Refusal::Invalid(vec![problem]),
            Self::Fault(error) => Refusal::Fault(error),
        }
    }
}

/// A placeholder of one of the sentences themselves, which people are to see.
const PLACEHOLDER: &str = "<number>";

/// A sentence without what looks like a tag: names of jobs come from whoever writes a file.
pub fn plain(sentence: &str) -> String {
    let (mut made, mut rest) = (String::with_capacity(sentence.len()), sentence);
    while let Some(at) = rest.find('<') {
        made.push_str(&rest[..at]);
        rest = &rest[at..];
        let opens = rest[1..].starts_with(|sign: char| {
            sign.is_ascii_alphabetic() || matches!(sign, '/' | '!' | '?')
        });
        let end = rest.find('>').filter(|_| opens && !rest.starts_with(PLACEHOLDER));
        let taken = end.map_or(1, |end| end + 1);
        if end.is_none() {
            made.push('<');
        }
        rest = &rest[taken..];
    }
    made.push_str(rest);
    made
}

#[cfg(test)]
mod tests {
    use super::{Refusal, plain};

    #[test]
    fn what_looks_like_a_tag_is_taken_out() {
        for (sentence, shown) in [
            ("(<unknown>): did not find", "(): did not find"),
            ("<b>x</b> job: undefined need: y", "x job: undefined need: y"),
            (
                "jobs:a:parallel config cannot use \"parallel: <number>\".",
                "jobs:a:parallel config cannot use \"parallel: <number>\".",
            ),
            ("a < b > c <", "a < b > c <"),
            ("<img src=x", "<img src=x"),
        ] {
            assert_eq!(plain(sentence), shown);
        }
    }

    #[test]
    fn a_pipeline_keeps_the_first_problem_or_all_of_its_choice() {
        let problems = || vec!["one".to_owned(), "two".to_owned()];

        assert_eq!(Refusal::Invalid(problems()).sentence(), "one");
        assert_eq!(Refusal::Unmet(problems()).sentence(), "one\ntwo");
    }
}
