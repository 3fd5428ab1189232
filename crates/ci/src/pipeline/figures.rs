//! Duration and coverage of a pipeline, computed from its jobs.

use kernel::Ts;

use crate::{Status, coverage::is_coverage, job::Member};

/// The mean of what the jobs cover, with two digits.
pub(super) fn coverage(jobs: &[Member]) -> Option<String> {
    mean(jobs.iter().filter_map(|job| job.coverage))
}

/// What earlier versions took beyond the bounds does not count.
fn mean(told: impl Iterator<Item = f64>) -> Option<String> {
    let covered: Vec<f64> = told.filter(|number| is_coverage(*number)).collect();
    let count = u32::try_from(covered.len()).ok().filter(|count| *count > 0)?;
    Some(format!("{:.2}", covered.iter().sum::<f64>() / f64::from(count)))
}

/// Seconds in which at least one job ran; `None` where none did.
pub(super) fn duration(jobs: &[Member], now: Ts) -> Option<i64> {
    let ran = |job: &&Member| job.status.is_finished() || job.status == Status::Running;
    let span = |job: &Member| Some((job.started_at?, job.finished_at.unwrap_or(now)));
    covered(jobs.iter().filter(ran).filter_map(span).collect())
}

/// The length of a union of spans, in whole seconds.
fn covered(mut spans: Vec<(Ts, Ts)>) -> Option<i64> {
    spans.sort_unstable();
    let mut until = spans.first()?.0;
    let mut total = 0;
    for (from, to) in spans {
        total += (to.0 - from.max(until).0).max(0);
        until = until.max(to);
    }
    Some(total / 1_000_000)
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::{covered, mean};

    #[test]
    fn a_mean_is_a_number_whatever_jobs_tell() {
        let of = |told: &[f64]| mean(told.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[50.0, 25.5]).as_deref(), Some("37.75"));
        assert_eq!(of(&[1e9, 1e9]).as_deref(), Some("1000000000.00"));
        assert_eq!(of(&[1.7e308, 1.7e308, 50.0]).as_deref(), Some("50.00"));
        assert_eq!(of(&[f64::INFINITY]), None);
    }

    #[test]
    fn time_counts_once_however_many_jobs_run_in_it() {
        for (spans, expected) in [
            (&[][..], None),
            (&[(0, 10)], Some(10)),
            (&[(0, 10), (5, 15)], Some(15)),
            (&[(20, 30), (0, 10)], Some(20)),
            (&[(0, 30), (5, 10), (29, 31)], Some(31)),
        ] {
            let at = |span: &(i64, i64)| (Ts::from_unix(span.0), Ts::from_unix(span.1));
            assert_eq!(covered(spans.iter().map(at).collect()), expected, "{spans:?}");
        }
    }
}
