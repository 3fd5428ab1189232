//! Statuses of jobs, and the status of a pipeline derived from them.

kernel::text_enum! {
    pub enum Status {
        Created = "created",
        WaitingForResource = "waiting_for_resource",
        Preparing = "preparing",
        Pending = "pending",
        Running = "running",
        Success = "success",
        Failed = "failed",
        Canceled = "canceled",
        Skipped = "skipped",
        Manual = "manual",
        Scheduled = "scheduled",
    }
}

impl Status {
    /// Whether it ended.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Canceled | Self::Skipped)
    }

    /// Whether it still does something by itself.
    pub fn is_active(self) -> bool {
        matches!(self, Self::WaitingForResource | Self::Preparing | Self::Pending | Self::Running)
    }

    /// Whether something is still to come of it without anybody's doing, but the time that it waits for.
    pub fn is_cancelable(self) -> bool {
        self.is_active() || matches!(self, Self::Created | Self::Scheduled)
    }

    /// Whether it ran as far as it does, whatever came of it.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Canceled)
    }
}

/// The contribution of one job to its pipeline's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub status: Status,
    /// Whether it is no harm when it fails.
    pub allow_failure: bool,
}

/// The statuses of several jobs, as a set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks(u16);

const WARN: u16 = 1 << 14;
const IGNORED: u16 = 1 << 15;

fn bit(status: Status) -> u16 {
    match status {
        Status::Created => 1,
        Status::WaitingForResource => 1 << 1,
        Status::Preparing => 1 << 2,
        Status::Pending => 1 << 3,
        Status::Running => 1 << 4,
        Status::Success => 1 << 5,
        Status::Failed => 1 << 6,
        Status::Canceled => 1 << 7,
        Status::Skipped => 1 << 8,
        Status::Manual => 1 << 9,
        Status::Scheduled => 1 << 10,
    }
}

impl Marks {
    fn of(outcomes: &[Outcome]) -> Self {
        let mut marks = Self::default();
        outcomes.iter().for_each(|outcome| marks.add(*outcome));
        marks
    }

    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.0 |= match (outcome.allow_failure, outcome.status) {
            (true, Status::Failed | Status::Canceled) => WARN,
            (true, Status::Manual) => IGNORED,
            (_, status) => bit(status),
        };
    }

    pub(crate) fn join(&mut self, others: Self) {
        self.0 |= others.0;
    }

    fn has(self, status: Status) -> bool {
        self.0 & bit(status) != 0
    }

    /// Whether there is nothing beside these.
    fn only(self, statuses: &[Status], others: u16) -> bool {
        let allowed = statuses.iter().map(|status| bit(*status)).fold(others, |all, one| all | one);
        self.0 & !allowed == 0
    }

    /// The first that fits counts.
    pub(crate) fn composite(self, scope: StatusScope) -> Status {
        use Status::{
            Canceled, Created, Failed, Manual, Pending, Preparing, Running, Scheduled, Skipped,
            Success, WaitingForResource,
        };
        let sets: [(&[Status], u16, Status); 6] = [
            (&[Skipped], IGNORED, Skipped),
            (&[Success, Skipped], WARN | IGNORED, Success),
            (&[Created], WARN | IGNORED, Created),
            (&[Preparing], WARN | IGNORED, Preparing),
            (&[Canceled, Success, Skipped], WARN | IGNORED, Canceled),
            (&[Pending, Created, Skipped], WARN | IGNORED, Pending),
        ];
        let members = [
            (Running, Running),
            (Pending, Running),
            (WaitingForResource, WaitingForResource),
            (Manual, Manual),
            (Scheduled, Scheduled),
            (Preparing, Preparing),
            (Created, Running),
        ];
        if self.0 == 0 {
            return Success;
        }
        if scope == StatusScope::Needs && (self.has(Skipped) || self.0 & IGNORED != 0) {
            return Skipped;
        }
        let whole = sets.iter().find(|(set, others, _)| self.only(set, *others));
        if let Some((_, _, status)) = whole {
            return *status;
        }
        let part = members.iter().find(|(status, _)| self.has(*status));
        part.map_or(Failed, |(_, status)| *status)
    }
}

/// The level at which statuses are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusScope {
    /// All jobs of a pipeline, of a stage, or of all stages before one.
    Whole,
    /// Those that one job needs. What is not in the pipeline is not among them.
    Needs,
}

/// The status of a pipeline, a stage or of what a job needs, from that of the jobs, newer ones of a name alone.
pub fn composite(outcomes: &[Outcome], scope: StatusScope) -> Status {
    Marks::of(outcomes).composite(scope)
}

/// Whether something failed that may.
pub fn has_warnings(outcomes: &[Outcome]) -> bool {
    Marks::of(outcomes).0 & WARN != 0
}

#[cfg(test)]
mod tests {
    use super::{
        Outcome,
        Status::{
            self, Canceled, Created, Failed, Manual, Pending, Preparing, Running, Scheduled,
            Skipped, Success, WaitingForResource,
        },
        StatusScope, composite,
    };

    fn of(required: &[Status], allowed: &[Status]) -> Status {
        let outcomes = |statuses: &[Status], allow_failure| -> Vec<Outcome> {
            statuses.iter().map(|status| Outcome { status: *status, allow_failure }).collect()
        };
        composite(
            &[outcomes(required, false), outcomes(allowed, true)].concat(),
            StatusScope::Whole,
        )
    }

    #[test]
    fn a_pipeline_is_as_far_as_its_jobs_say() {
        for (required, allowed, expected) in [
            (&[][..], &[][..], Success),
            (&[Skipped], &[Manual], Skipped),
            (&[Success, Skipped], &[Failed], Success),
            (&[], &[Canceled], Success),
            (&[Created], &[Failed], Created),
            (&[Preparing], &[], Preparing),
            (&[Canceled, Success, Skipped], &[], Canceled),
            (&[Pending, Created, Skipped], &[Manual], Pending),
            (&[Success, Pending], &[], Running),
            (&[Failed, Running, Manual], &[], Running),
            (&[Success, WaitingForResource, Manual], &[], WaitingForResource),
            (&[Success, Manual, Failed], &[], Manual),
            (&[Scheduled, Failed], &[], Scheduled),
            (&[Preparing, Success], &[], Preparing),
            (&[Success, Created], &[], Running),
            (&[Success, Failed], &[], Failed),
            (&[Canceled, Failed], &[Success], Failed),
        ] {
            assert_eq!(of(required, allowed), expected, "{required:?} {allowed:?}");
        }
    }
}
