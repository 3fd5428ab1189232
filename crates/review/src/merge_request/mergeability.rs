//! The mergeability of a merge request with its detailed status, computed from stored facts alone.

use super::{MergeRequestState, MergeStatus};

kernel::text_enum! {
    /// Events between two mergeability checks, and the results of a check.
    pub enum CheckStep {
        /// The source or the target moved, or another target was chosen.
        Changed = "changed",
        Begun = "begun",
        Fits = "fits",
        /// A conflict, nothing to merge, or a branch that is not there.
        Clashes = "clashes",
    }
}

impl MergeStatus {
    /// What is known after a look, or when something changed since the last one.
    #[must_use]
    pub fn after(self, look: CheckStep) -> Self {
        use MergeStatus::{
            CanBeMerged, CannotBeMerged, CannotBeMergedRecheck, Checking, Unchecked,
        };
        match (self, look) {
            (_, CheckStep::Fits) => CanBeMerged,
            (_, CheckStep::Clashes) => CannotBeMerged,
            (Unchecked | Checking | CanBeMerged, CheckStep::Changed) => Unchecked,
            (CannotBeMerged | CannotBeMergedRecheck, CheckStep::Changed) => CannotBeMergedRecheck,
            (Unchecked | Checking | CannotBeMergedRecheck, CheckStep::Begun) => Checking,
            // Nothing changed since: there is nothing to look at.
            (known @ (CanBeMerged | CannotBeMerged), CheckStep::Begun) => known,
        }
    }

    /// Whether git said last that it cannot be merged.
    pub(crate) fn is_unmergeable(self) -> bool {
        matches!(self, Self::CannotBeMerged | Self::CannotBeMergedRecheck)
    }

    /// Whether git has yet to say something.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Unchecked | Self::Checking | Self::CannotBeMergedRecheck)
    }
}

kernel::text_enum! {
    /// The first thing that keeps a merge request from being merged.
    pub enum DetailedMergeStatus {
        Checking = "checking",
        Unchecked = "unchecked",
        NotApproved = "not_approved",
        NotOpen = "not_open",
        Draft = "draft_status",
        Broken = "broken_status",
        DiscussionsNotResolved = "discussions_not_resolved",
        CiStillRunning = "ci_still_running",
        CiMustPass = "ci_must_pass",
        Mergeable = "mergeable",
    }
}

kernel::text_enum! {
    /// The state of the head commit's pipeline.
    pub enum HeadPipeline {
        Missing = "missing",
        Active = "active",
        Succeeded = "succeeded",
        Skipped = "skipped",
        /// Failed, canceled, or waiting for a person.
        Stopped = "stopped",
    }
}

/// The merge checks that a project requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeRequirements {
    pub resolved_threads: bool,
    pub successful_pipeline: bool,
    /// A pipeline that was skipped is as good.
    pub skipped_is_success: bool,
}

impl MergeRequirements {
    fn pass(self, pipeline: HeadPipeline) -> bool {
        match pipeline {
            _ if !self.successful_pipeline => true,
            HeadPipeline::Succeeded => true,
            HeadPipeline::Skipped => self.skipped_is_success,
            HeadPipeline::Missing | HeadPipeline::Active | HeadPipeline::Stopped => false,
        }
    }
}

/// Everything that decides, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub state: MergeRequestState,
    pub merge_status: MergeStatus,
    pub draft: bool,
    pub approved: bool,
    pub has_open_threads: bool,
    pub pipeline: HeadPipeline,
    pub demands: MergeRequirements,
}

impl Facts {
    /// The first hit of a fixed order. What is over is said to be over, whatever else is missing.
    pub fn detailed_merge_status(&self) -> DetailedMergeStatus {
        use DetailedMergeStatus as Said;
        let over = matches!(self.state, MergeRequestState::Merged | MergeRequestState::Closed);
        match self.merge_status {
            // Nobody asks git about it any more: a push may have brought it before git was asked.
            _ if self.state == MergeRequestState::Merged => return Said::NotOpen,
            MergeStatus::Checking => return Said::Checking,
            MergeStatus::Unchecked | MergeStatus::CannotBeMergedRecheck => return Said::Unchecked,
            _ if over => return Said::NotOpen,
            _ if !self.approved => return Said::NotApproved,
            _ if self.state != MergeRequestState::Opened => return Said::NotOpen,
            _ if self.draft => return Said::Draft,
            MergeStatus::CannotBeMerged => return Said::Broken,
            MergeStatus::CanBeMerged => {}
        }
        if self.demands.resolved_threads && self.has_open_threads {
            return Said::DiscussionsNotResolved;
        }
        match self.pipeline {
            pipeline if self.demands.pass(pipeline) => Said::Mergeable,
            HeadPipeline::Active => Said::CiStillRunning,
            _ => Said::CiMustPass,
        }
    }

    /// Whether it may be merged now, as far as anything but git's next answer decides.
    pub fn is_mergeable(&self) -> bool {
        self.detailed_merge_status() == DetailedMergeStatus::Mergeable
    }

    /// Whether nothing but the pipeline is missing.
    pub fn is_mergeable_but_for_pipeline(&self) -> bool {
        let demands = MergeRequirements { successful_pipeline: false, ..self.demands };
        Self { demands, ..*self }.is_mergeable()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{CheckStep, DetailedMergeStatus, Facts, HeadPipeline, MergeRequirements};
    use crate::merge_request::{MergeRequestState, MergeStatus};

    #[test]
    fn what_git_said_follows_this_table() {
        let mut table = String::new();
        for status in MergeStatus::ALL {
            for look in CheckStep::ALL {
                let _ = writeln!(table, "{status:<24} {look:<8} -> {}", status.after(*look));
            }
        }
        insta::assert_snapshot!(table);
    }

    fn fine() -> Facts {
        Facts {
            state: MergeRequestState::Opened,
            merge_status: MergeStatus::CanBeMerged,
            draft: false,
            approved: true,
            has_open_threads: false,
            pipeline: HeadPipeline::Missing,
            demands: MergeRequirements::default(),
        }
    }

    type Violation = (&'static str, fn(&mut Facts));

    /// Everything that can be wrong at once, in the order in which it is told.
    fn violations() -> Vec<Violation> {
        vec![
            ("checking", |facts| facts.merge_status = MergeStatus::Checking),
            ("unchecked", |facts| facts.merge_status = MergeStatus::Unchecked),
            ("recheck", |facts| facts.merge_status = MergeStatus::CannotBeMergedRecheck),
            ("closed", |facts| facts.state = MergeRequestState::Closed),
            ("merged", |facts| facts.state = MergeRequestState::Merged),
            ("not approved", |facts| facts.approved = false),
            ("locked", |facts| facts.state = MergeRequestState::Locked),
            ("draft", |facts| facts.draft = true),
            ("conflict", |facts| facts.merge_status = MergeStatus::CannotBeMerged),
            ("open threads", |facts| {
                facts.has_open_threads = true;
                facts.demands.resolved_threads = true;
            }),
            ("running pipeline", |facts| {
                facts.pipeline = HeadPipeline::Active;
                facts.demands.successful_pipeline = true;
            }),
            ("no pipeline", |facts| facts.demands.successful_pipeline = true),
        ]
    }

    #[test]
    fn the_first_hit_is_told() {
        let mut table = String::new();
        for (first, (name, spoil)) in violations().into_iter().enumerate() {
            let _ = write!(table, "{name:<18}");
            for (other, spoil_too) in &violations()[first..] {
                let mut facts = fine();
                spoil_too(&mut facts);
                spoil(&mut facts);
                let told = facts.detailed_merge_status();
                let _ = write!(table, " | {other}: {told}");
            }
            table.push('\n');
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn what_a_push_merged_is_over_before_git_was_asked() {
        for merge_status in MergeStatus::ALL.iter().copied() {
            let facts = Facts { state: MergeRequestState::Merged, merge_status, ..fine() };
            assert_eq!(facts.detailed_merge_status(), DetailedMergeStatus::NotOpen);
        }
    }

    #[test]
    fn a_pipeline_matters_only_where_the_project_wants_it() {
        let mut table = String::new();
        for pipeline in HeadPipeline::ALL {
            for (wanted, skipped) in [(false, false), (true, false), (true, true)] {
                let demands = MergeRequirements {
                    successful_pipeline: wanted,
                    skipped_is_success: skipped,
                    ..MergeRequirements::default()
                };
                let facts = Facts { pipeline: *pipeline, demands, ..fine() };
                let told = facts.detailed_merge_status();
                let _ = writeln!(
                    table,
                    "{pipeline:<10} wanted {wanted:<5} skipped will do {skipped:<5} -> {told}"
                );
                assert!(facts.is_mergeable_but_for_pipeline());
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn threads_matter_only_where_the_project_wants_them_resolved() {
        let facts = Facts { has_open_threads: true, ..fine() };
        assert_eq!(facts.detailed_merge_status(), DetailedMergeStatus::Mergeable);
    }
}
