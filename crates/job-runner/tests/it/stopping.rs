//! Jobs that end before their commands do, and programs that stop.

use std::time::Duration;

use job_runner::fleet::StopReason;

use crate::support::{Bench, JobExt as _, job};

/// Less than any of the times that a job has for its end.
const AT_ONCE: Duration = Duration::from_secs(8);

#[test]
fn a_cancelled_job_runs_what_comes_after_its_script() {
    let bench = Bench::new();
    bench.server.lock().status_after = Some(("\nwaiting\n", "canceling"));
    let (end, log) =
        bench.run(job(&["echo waiting", "sleep 1000"]).after(&["echo after $CI_JOB_STATUS"]));
    assert_eq!(end["state"], "failed");
    assert!(log.contains("\nafter canceled\n") && log.contains("Job failed: canceled"), "{log}");
}

#[test]
fn a_job_that_the_server_has_ended_stops_without_a_word() {
    let bench = Bench::new();
    bench.server.lock().status_after = Some(("\nwaiting\n", "canceled"));
    let mark = bench.folder.path().join("after");
    let after = format!("touch {}", mark.display());
    bench.give(job(&["echo waiting", "sleep 1000"]).after(&[&after]));
    bench
        .server
        .wait_for(|state| crate::server::text(&state.log).contains("\nwaiting\n").then_some(()));
    bench.stop.stop();
    assert_eq!(bench.ended.recv().unwrap(), StopReason::Stopped);
    assert!(bench.server.lock().ends.is_empty() && !mark.exists());
}

#[test]
fn stopping_waits_for_jobs() {
    let bench = Bench::new();
    let go = bench.folder.path().join("go");
    let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", go.display());
    bench.give(job(&["echo waiting", &wait, "echo done"]));
    bench
        .server
        .wait_for(|state| crate::server::text(&state.log).contains("\nwaiting\n").then_some(()));
    bench.stop.stop();
    std::fs::write(go, "").unwrap();
    let (end, log) = bench.server.end();
    assert_eq!(end["state"], "success");
    assert!(log.contains("\ndone\n"), "{log}");
    assert_eq!(bench.ended.recv().unwrap(), StopReason::Stopped);
}

#[test]
fn a_second_stop_ends_jobs_as_failures_of_the_runner() {
    let bench = Bench::new();
    bench.give(job(&["echo waiting", "sleep 1000"]).after(&["echo never"]));
    bench
        .server
        .wait_for(|state| crate::server::text(&state.log).contains("\nwaiting\n").then_some(()));
    bench.stop.stop();
    bench.stop.stop();
    let (end, log) = bench.server.end();
    assert_eq!(end["failure_reason"], "runner_system_failure");
    assert!(!log.contains("\nnever\n") && log.contains("the runner was stopped"), "{log}");
    assert_eq!(bench.ended.recv_timeout(AT_ONCE), Ok(StopReason::Stopped));
}

#[test]
fn who_has_nothing_to_do_stops_at_once() {
    let bench = Bench::holding();
    bench.server.wait_for(|state| (state.held > 0).then_some(()));
    bench.stop.stop();
    assert_eq!(bench.ended.recv_timeout(AT_ONCE), Ok(StopReason::Stopped));
}

#[test]
fn who_has_something_to_do_asks_for_no_more_while_it_stops() {
    let bench = Bench::new();
    let go = bench.folder.path().join("go");
    let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", go.display());
    bench.give(job(&["echo waiting", &wait]));
    bench
        .server
        .wait_for(|state| crate::server::text(&state.log).contains("\nwaiting\n").then_some(()));
    bench.stop.stop();
    bench.give(job(&["echo too late"]));
    std::fs::write(go, "").unwrap();
    assert_eq!(bench.ended.recv_timeout(AT_ONCE), Ok(StopReason::Stopped));
    assert_eq!(bench.server.lock().jobs.len(), 1);
}
