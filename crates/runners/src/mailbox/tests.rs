//! Runners that wait, held against jobs that come.

use std::{sync::Arc, time::Duration};

use kernel::{
    Ts,
    ids::{JobId, ProjectId, RunnerId},
};

use super::{Mailbox, Process, QueuedJob};
use crate::{
    matching::{JobMatcher, QueueProject},
    runner::RunnerType,
};

const LONG: Duration = Duration::from_secs(3600);

fn taker(id: i64, project: i64) -> JobMatcher {
    JobMatcher {
        runner: RunnerId(id),
        token_digest: format!("token {id}"),
        token_expires_at: None,
        runner_type: RunnerType::Project,
        group: None,
        projects: vec![ProjectId(project)],
        active: true,
        run_untagged: true,
        protected_only: false,
        tags: Vec::new(),
    }
}

fn arrival(project: i64) -> QueuedJob {
    let home = QueueProject {
        project: ProjectId(project),
        groups: Vec::new(),
        instance_runners: false,
        group_runners: false,
        runs_jobs: true,
    };
    QueuedJob { job: JobId(1), home: Arc::new(home), tags: Vec::new(), protected: false }
}

/// Lets a runner of a process wait.
async fn asleep(
    mailbox: &Arc<Mailbox>,
    taker: JobMatcher,
    process: &str,
) -> kernel::task::JoinHandle<bool> {
    let process = Process(process.to_owned());
    let cursor = mailbox.cursor(&taker, &process);
    mailbox.found_none(taker.runner, &cursor);
    let (own, before) = (Arc::clone(mailbox), mailbox.waiting());
    let waits = kernel::task::spawn(async move {
        let errand = own.wait(taker.runner, &process, &cursor, LONG).await;
        let is_woken = errand.is_some();
        if let Some(errand) = errand {
            errand.done(None);
        }
        is_woken
    });
    while mailbox.waiting() == before {
        tokio::task::yield_now().await;
    }
    waits
}

#[tokio::test]
async fn a_job_wakes_one_of_those_that_could_take_it() {
    let mailbox = Arc::new(Mailbox::default());
    let first = asleep(&mailbox, taker(1, 1), "a").await;
    let second = asleep(&mailbox, taker(2, 1), "b").await;
    let other = asleep(&mailbox, taker(3, 2), "c").await;

    mailbox.announce(&[arrival(1)]);

    assert!(first.await.unwrap());
    assert_eq!(mailbox.waiting(), 2);
    mailbox.announce(&[arrival(1)]);
    assert!(second.await.unwrap());
    other.abort();
}

#[tokio::test]
async fn an_old_cursor_waits_for_nothing() {
    let mailbox = Mailbox::default();
    let (one, process) = (taker(1, 1), Process("a".to_owned()));
    let cursor = mailbox.cursor(&one, &process);
    assert_eq!(mailbox.cursor(&one, &process), cursor);

    mailbox.announce(&[arrival(2)]);
    assert_eq!(mailbox.cursor(&one, &process), cursor, "none of its jobs");
    mailbox.announce(&[arrival(1)]);

    assert!(mailbox.wait(RunnerId(1), &process, &cursor, LONG).await.is_some());
    let now = mailbox.cursor(&one, &process);
    assert!(mailbox.wait(RunnerId(1), &process, &now, Duration::ZERO).await.is_none());
    let paused = JobMatcher { active: false, ..one };
    assert_ne!(mailbox.cursor(&paused, &process), now, "it takes other jobs than before");
}

#[tokio::test]
async fn a_process_is_let_go_for_another_of_its_runners() {
    let mailbox = Arc::new(Mailbox::default());
    let cursor = mailbox.cursor(&taker(2, 2), &Process("a".to_owned()));
    mailbox.found_none(RunnerId(2), &cursor);
    let same = asleep(&mailbox, taker(1, 1), "a").await;
    let other = asleep(&mailbox, taker(3, 3), "b").await;

    mailbox.announce(&[arrival(2)]);

    assert!(!same.await.unwrap(), "nothing for itself");
    assert_eq!(mailbox.waiting(), 1);
    other.abort();
}

#[tokio::test]
async fn who_was_changed_or_hangs_up_waits_no_more() {
    let mailbox = Arc::new(Mailbox::default());
    let changed = asleep(&mailbox, taker(1, 1), "a").await;
    let gone = asleep(&mailbox, taker(2, 1), "b").await;

    mailbox.forget(RunnerId(1));
    gone.abort();

    assert!(changed.await.unwrap());
    assert!(gone.await.is_err());
    assert_eq!(mailbox.waiting(), 0);
}

/// Lets a runner wait, and go away in the moment in which it is woken.
async fn vanishes(mailbox: &Arc<Mailbox>, id: i64) {
    let (one, process) = (taker(id, 1), Process(format!("gone {id}")));
    let cursor = mailbox.cursor(&one, &process);
    mailbox.found_none(one.runner, &cursor);
    let own = Arc::clone(mailbox);
    let errand = kernel::task::spawn(async move {
        drop(own.wait(one.runner, &process, &cursor, LONG).await);
    });
    errand.await.unwrap();
}

#[tokio::test]
async fn a_job_goes_on_to_the_next_one_who_waits_where_the_first_goes_away() {
    let mailbox = Arc::new(Mailbox::default());
    let own = Arc::clone(&mailbox);
    let gone = kernel::task::spawn(async move { vanishes(&own, 1).await });
    while mailbox.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    let next = asleep(&mailbox, taker(2, 1), "b").await;

    mailbox.announce(&[arrival(1)]);

    gone.await.unwrap();
    assert!(next.await.unwrap());
    assert_eq!(mailbox.waiting(), 0);
}

#[tokio::test]
async fn a_runner_that_is_dropped_while_it_is_woken_hands_its_job_on() {
    let mailbox = Arc::new(Mailbox::default());
    let first = asleep(&mailbox, taker(1, 1), "a").await;
    let next = asleep(&mailbox, taker(2, 1), "b").await;

    mailbox.announce(&[arrival(1)]);
    first.abort();

    assert!(first.await.is_err());
    assert!(next.await.unwrap());
}

#[tokio::test]
async fn a_job_is_handed_on_where_its_runner_took_another_one() {
    let mailbox = Arc::new(Mailbox::default());
    let (one, process) = (taker(1, 1), Process("a".to_owned()));
    let cursor = mailbox.cursor(&one, &process);
    mailbox.found_none(one.runner, &cursor);
    let waits = mailbox.wait(one.runner, &process, &cursor, LONG);
    let makes = async {
        tokio::task::yield_now().await;
        mailbox.announce(&[arrival(1)]);
    };
    let (errand, ()) = tokio::join!(waits, makes);
    let next = asleep(&mailbox, taker(2, 1), "b").await;

    errand.unwrap().done(Some(JobId(7)));

    assert!(next.await.unwrap());
}

#[tokio::test]
async fn nobody_is_held_while_a_job_waits_for_another_runner_of_the_process() {
    let mailbox = Mailbox::default();
    let process = Process("a".to_owned());
    let (one, two) = (taker(1, 1), taker(2, 2));
    let cursor = mailbox.cursor(&one, &process);
    mailbox.found_none(one.runner, &cursor);
    let other = mailbox.cursor(&two, &process);
    mailbox.found_none(two.runner, &other);
    mailbox.announce(&[arrival(2)]);

    assert!(mailbox.wait(one.runner, &process, &cursor, LONG).await.is_none(), "at once");

    // It asked, and somebody else had the job.
    let other = mailbox.cursor(&two, &process);
    mailbox.found_none(two.runner, &other);
    let held = mailbox.wait(one.runner, &process, &cursor, LONG);
    assert!(tokio::time::timeout(Duration::from_millis(20), held).await.is_err());
}

#[tokio::test]
async fn who_had_nothing_to_do_for_longest_is_woken_first() {
    let mailbox = Arc::new(Mailbox::default());
    let (busy, idle) = (taker(1, 1), taker(2, 1));
    for (one, process) in [(&busy, "a"), (&idle, "b")] {
        mailbox.cursor(one, &Process(process.to_owned()));
    }
    mailbox.got_job(busy.runner, &Process("a".to_owned()));
    let first = asleep(&mailbox, busy, "a").await;
    let second = asleep(&mailbox, idle, "b").await;

    mailbox.announce(&[arrival(1)]);

    assert!(second.await.unwrap(), "although the other one began to wait before");
    assert_eq!(mailbox.waiting(), 1);
    first.abort();
}

#[tokio::test]
async fn two_programs_of_one_runner_wait_each_for_itself() {
    let mailbox = Arc::new(Mailbox::default());
    let first = asleep(&mailbox, taker(1, 1), "a").await;
    let second = asleep(&mailbox, taker(1, 1), "b").await;

    mailbox.announce(&[arrival(1)]);
    assert!(first.await.unwrap());
    assert_eq!(mailbox.waiting(), 1);
    mailbox.announce(&[arrival(1)]);
    assert!(second.await.unwrap());
}

#[tokio::test]
async fn a_runner_is_known_by_its_token_as_long_as_nothing_changes_for_it() {
    let mailbox = Mailbox::default();
    let (one, process) = (taker(1, 1), Process("a".to_owned()));
    let cursor = mailbox.cursor(&one, &process);
    let unchanged = |token: &str| mailbox.unchanged(token, &process, &cursor, Ts(0));

    assert_eq!(unchanged("token 1"), Some(RunnerId(1)));
    assert_eq!(unchanged("token 2"), None);
    mailbox.announce(&[arrival(1)]);
    assert_eq!(unchanged("token 1"), None);
    let cursor = mailbox.cursor(&one, &process);
    mailbox.forget(RunnerId(1));
    assert_eq!(mailbox.unchanged("token 1", &process, &cursor, Ts(0)), None);
}

#[tokio::test]
async fn a_runner_whose_token_expires_is_known_no_more() {
    let mailbox = Mailbox::default();
    let one = JobMatcher { token_expires_at: Some(Ts(5)), ..taker(1, 1) };
    let process = Process("a".to_owned());
    let cursor = mailbox.cursor(&one, &process);
    let unchanged = |at: i64| mailbox.unchanged("token 1", &process, &cursor, Ts(at));

    assert_eq!((unchanged(4), unchanged(5)), (Some(RunnerId(1)), None));
}

#[tokio::test]
async fn nobody_waits_for_a_server_that_stops() {
    let mailbox = Arc::new(Mailbox::default());
    let first = asleep(&mailbox, taker(1, 1), "a").await;

    mailbox.close();

    assert!(!first.await.unwrap());
    let (late, process) = (taker(2, 1), Process("b".to_owned()));
    let cursor = mailbox.cursor(&late, &process);
    assert!(mailbox.wait(late.runner, &process, &cursor, LONG).await.is_none());
    assert_eq!(mailbox.waiting(), 0);
}
