//! What becomes possible in a pipeline: from how far its jobs are to what each of them does next. Rows in, moves out: a
//! transaction that is done again comes to the same.

use std::collections::{HashMap, HashSet};

use kernel::ids::JobId;

use crate::{
    Outcome, Status, StatusScope,
    config::When,
    job::{JobKind, Step},
    status::Marks,
};

/// A job, as far as others of its pipeline depend on it. Only the newest of each name counts.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: JobId,
    pub kind: JobKind,
    /// The place of its stage.
    pub stage: i64,
    pub name: String,
    pub status: Status,
    pub allow_failure: bool,
    pub when: When,
    /// The names of those that it waits for; `None`: all of earlier stages.
    pub needs: Option<Vec<String>>,
    /// Whether it shares something with others, so that only one of them runs at a time.
    pub in_group: bool,
}

impl Row {
    fn outcome(&self) -> Outcome {
        Outcome { status: self.status, allow_failure: self.allow_failure }
    }
}

/// Moves every job that waits for nothing any more, and tells what each of them did, by its place among the rows.
pub fn process(rows: &mut [Row]) -> Vec<(usize, Step)> {
    let needed = needed(rows);
    let mut moves = Vec::new();
    let (mut earlier, mut own, mut stage) = (Marks::default(), Marks::default(), None);
    for index in in_order(rows, &needed) {
        if stage != Some(rows[index].stage) {
            earlier.join(std::mem::take(&mut own));
            stage = Some(rows[index].stage);
        }
        let previous = match &needed[index] {
            Some(needed) => {
                let mut marks = Marks::default();
                needed.iter().for_each(|need| marks.add(rows[*need].outcome()));
                marks.composite(StatusScope::Needs)
            }
            None => earlier.composite(StatusScope::Whole),
        };
        if let Some(step) = step(&rows[index], previous)
            && let Ok(after) = rows[index].status.after(step)
        {
            rows[index].status = after;
            moves.push((index, step));
        }
        own.add(rows[index].outcome());
    }
    moves
}

/// What a job does once that has ended for which it waits.
fn step(row: &Row, previous: Status) -> Option<Step> {
    if row.status != Status::Created || row.kind == JobKind::External || !previous.is_complete() {
        return None;
    }
    let by_needs = row.needs.is_some();
    let fits = match row.when {
        When::OnSuccess | When::Manual | When::Delayed => {
            previous == Status::Success || (previous == Status::Skipped && !by_needs)
        }
        When::OnFailure => previous == Status::Failed,
        When::Always => previous != Status::Canceled,
    };
    Some(match row.when {
        _ if !fits => Step::Skip,
        When::Delayed => Step::Schedule,
        When::Manual => Step::Actionize,
        _ if row.in_group => Step::AwaitResource,
        _ => Step::Enqueue,
    })
}

/// Those that waited for jobs which are under way again, and so have to wait once more: what was skipped, or could be
/// played by hand.
pub fn dependents(rows: &[Row], alive: &HashSet<JobId>) -> Vec<usize> {
    let needed = needed(rows);
    let first = rows.iter().filter(|row| alive.contains(&row.id)).map(|row| row.stage).min();
    let Some(first) = first else { return Vec::new() };
    let mut depends = vec![false; rows.len()];
    let mut found = Vec::new();
    for index in in_order(rows, &needed) {
        let row = &rows[index];
        depends[index] = match &needed[index] {
            Some(needed) => {
                needed.iter().any(|need| depends[*need] || alive.contains(&rows[*need].id))
            }
            None => row.stage > first,
        };
        let waits = matches!(row.status, Status::Skipped | Status::Manual);
        if depends[index] && waits && !alive.contains(&row.id) && row.kind != JobKind::External {
            found.push(index);
        }
    }
    found
}

/// For each row the places of those that it needs and that are there. What others report may have the name of a job, and
/// is none that somebody needs.
fn needed(rows: &[Row]) -> Vec<Option<Vec<usize>>> {
    let jobs = rows.iter().enumerate().filter(|(_, row)| row.kind != JobKind::External);
    let places: HashMap<&str, usize> =
        jobs.map(|(index, row)| (row.name.as_str(), index)).collect();
    let of_row = |row: &Row| {
        let names = row.needs.as_ref()?;
        Some(names.iter().filter_map(|name| places.get(name.as_str()).copied()).collect())
    };
    rows.iter().map(of_row).collect()
}

/// Stage by stage, and in a stage each job behind those that it needs.
fn in_order(rows: &[Row], needed: &[Option<Vec<usize>>]) -> Vec<usize> {
    let mut by_stage: Vec<usize> = (0..rows.len()).collect();
    by_stage.sort_by_key(|index| rows[*index].stage);
    let of_stage = |index: usize| {
        let needed = needed[index].iter().flatten().copied();
        needed.filter(move |need| rows[*need].stage == rows[index].stage)
    };
    let mut ordered = Vec::with_capacity(rows.len());
    let mut placed = vec![false; rows.len()];
    for first in by_stage {
        // A stack of our own: a chain of needs may be as long as a pipeline.
        let mut open = vec![(first, false)];
        while let Some((index, ready)) = open.pop() {
            if ready {
                ordered.push(index);
            } else if !std::mem::replace(&mut placed[index], true) {
                open.push((index, true));
                open.extend(
                    of_stage(index).filter(|need| !placed[*need]).map(|need| (need, false)),
                );
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, fmt::Write as _};

    use kernel::{TextEnum as _, ids::JobId};

    use super::{Row, dependents, process};
    use crate::{
        Status::{
            self, Canceled, Created, Failed, Manual, Pending, Running, Scheduled, Skipped, Success,
        },
        config::When,
        job::JobKind,
    };

    /// A job of a stage, called by its place.
    fn job(id: i64, stage: i64, status: Status, when: When) -> Row {
        Row {
            id: JobId(id),
            kind: JobKind::Build,
            stage,
            name: id.to_string(),
            status,
            allow_failure: false,
            when,
            needs: None,
            in_group: false,
        }
    }

    fn needing(needs: &[i64], row: Row) -> Row {
        Row { needs: Some(needs.iter().map(ToString::to_string).collect()), ..row }
    }

    fn after(mut rows: Vec<Row>) -> Vec<Status> {
        process(&mut rows);
        rows.iter().map(|row| row.status).collect()
    }

    #[test]
    fn what_a_job_does_once_all_before_it_has_ended() {
        let mut table = String::new();
        for by_needs in [false, true] {
            for when in When::ALL {
                for previous in Status::ALL {
                    let next = job(2, 1, Created, *when);
                    let next = if by_needs { needing(&[1], next) } else { next };
                    let rows = after(vec![job(1, 0, *previous, When::OnSuccess), next]);
                    if rows[0] == *previous && rows[1] != Created {
                        let way = if by_needs { "needs" } else { "stage" };
                        writeln!(table, "{way} {previous:<9} {when:<10} -> {}", rows[1]).unwrap();
                    }
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn a_stage_waits_for_all_stages_before_it() {
        let rows = |first| {
            let stages = [(1, 0, first), (2, 0, Success), (3, 1, Created), (4, 2, Created)];
            stages.map(|(id, stage, status)| job(id, stage, status, When::OnSuccess)).to_vec()
        };

        assert_eq!(after(rows(Running)), [Running, Success, Created, Created]);
        assert_eq!(after(rows(Success)), [Success, Success, Pending, Created]);
        assert_eq!(after(rows(Failed)), [Failed, Success, Skipped, Skipped]);
        assert_eq!(after(rows(Canceled)), [Canceled, Success, Skipped, Skipped]);
    }

    #[test]
    fn needs_start_early_and_none_at_once() {
        let rows = vec![
            job(1, 0, Running, When::OnSuccess),
            needing(&[], job(2, 2, Created, When::OnSuccess)),
            needing(&[3], job(4, 1, Created, When::OnSuccess)),
            needing(&[5], job(3, 1, Created, When::OnSuccess)),
            job(5, 0, Success, When::OnSuccess),
            // What is needed and not there was optional.
            needing(&[9], job(6, 2, Created, When::OnSuccess)),
        ];

        assert_eq!(after(rows), [Running, Pending, Created, Pending, Success, Pending]);
    }

    #[test]
    fn a_job_that_may_be_played_skips_who_needs_it_and_blocks_nobody_else() {
        let optional = Row { allow_failure: true, ..job(1, 0, Created, When::Manual) };
        let rows = vec![
            optional.clone(),
            needing(&[1], job(2, 1, Created, When::OnSuccess)),
            job(3, 1, Created, When::OnSuccess),
        ];
        assert_eq!(after(rows), [Manual, Skipped, Pending]);

        let blocking = Row { allow_failure: false, ..optional };
        let rows = vec![blocking, job(2, 1, Created, When::OnSuccess)];
        assert_eq!(after(rows), [Manual, Created]);
    }

    #[test]
    fn a_delayed_job_waits_for_its_time_and_one_of_a_group_for_its_turn() {
        let shared = Row { in_group: true, ..job(2, 0, Created, When::OnSuccess) };
        let rows = vec![job(1, 0, Created, When::Delayed), shared];

        assert_eq!(after(rows), [Scheduled, Status::WaitingForResource]);
    }

    #[test]
    fn what_somebody_else_reports_is_left_alone() {
        let report = Row { kind: JobKind::External, ..job(1, 9, Created, When::OnSuccess) };

        assert_eq!(after(vec![report]), [Created]);
    }

    #[test]
    fn what_somebody_else_reports_by_the_name_of_a_job_is_not_what_is_needed() {
        let report = |status| Row {
            kind: JobKind::External,
            name: "1".to_owned(),
            ..job(3, 9, status, When::OnSuccess)
        };
        let rows = |status, reported| {
            let next = needing(&[1], job(2, 1, Created, When::OnSuccess));
            vec![job(1, 0, status, When::OnSuccess), next, report(reported)]
        };

        assert_eq!(after(rows(Running, Success)), [Running, Created, Success]);
        assert_eq!(after(rows(Success, Failed)), [Success, Pending, Failed]);
    }

    #[test]
    fn who_waited_for_a_job_that_runs_again_waits_again() {
        let rows = vec![
            job(1, 0, Pending, When::OnSuccess),
            job(2, 0, Skipped, When::OnSuccess),
            job(3, 1, Skipped, When::OnSuccess),
            needing(&[2], job(4, 2, Skipped, When::OnSuccess)),
            needing(&[1], job(5, 1, Skipped, When::OnSuccess)),
            needing(&[5], job(6, 2, Manual, When::Manual)),
            job(7, 2, Success, When::OnSuccess),
        ];

        assert_eq!(dependents(&rows, &HashSet::from([JobId(1)])), [2, 4, 5]);
        assert_eq!(dependents(&rows, &HashSet::new()), Vec::<usize>::new());
    }
}
