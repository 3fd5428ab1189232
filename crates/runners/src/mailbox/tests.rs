//! Runners that wait, held against jobs that come.

use std::{sync::Arc, time::Duration};

use kernel::ids::{ProjectId, RunnerId};

use super::{Arrival, Mailbox, Process};
use crate::{
    matching::{Home, Taker},
    runner::RunnerType,
};

const LONG: Duration = Duration::from_secs(3600);

fn taker(id: i64, project: i64) -> Taker {
    Taker {
        runner: RunnerId(id),
        runner_type: RunnerType::Project,
        group: None,
        projects: vec![ProjectId(project)],
        active: true,
        run_untagged: true,
        protected_only: false,
        tags: Vec::new(),
    }
}

fn arrival(project: i64) -> Arrival {
    let home = Home {
        project: ProjectId(project),
        groups: Vec::new(),
        instance_runners: false,
        group_runners: false,
        runs_jobs: true,
    };
    Arrival { home: Arc::new(home), tags: Vec::new(), protected: false }
}

/// Lets a runner of a process wait.
async fn asleep(
    mailbox: &Arc<Mailbox>,
    taker: Taker,
    process: &str,
) -> tokio::task::JoinHandle<bool> {
    let process = Process(process.to_owned());
    let cursor = mailbox.cursor(&taker, &process);
    let (own, before) = (Arc::clone(mailbox), mailbox.waiting());
    let waits = tokio::spawn(async move { own.wait(taker.runner, &process, &cursor, LONG).await });
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

    assert!(mailbox.wait(RunnerId(1), &process, &cursor, LONG).await);
    let now = mailbox.cursor(&one, &process);
    assert!(!mailbox.wait(RunnerId(1), &process, &now, Duration::ZERO).await);
    let paused = Taker { active: false, ..one };
    assert_ne!(mailbox.cursor(&paused, &process), now, "it takes other jobs than before");
}

#[tokio::test]
async fn a_process_is_let_go_for_another_of_its_runners() {
    let mailbox = Arc::new(Mailbox::default());
    mailbox.cursor(&taker(2, 2), &Process("a".to_owned()));
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

#[tokio::test]
async fn nobody_waits_for_a_server_that_stops() {
    let mailbox = Arc::new(Mailbox::default());
    let first = asleep(&mailbox, taker(1, 1), "a").await;

    mailbox.close();

    assert!(!first.await.unwrap());
    let (late, process) = (taker(2, 1), Process("b".to_owned()));
    let cursor = mailbox.cursor(&late, &process);
    assert!(!mailbox.wait(late.runner, &process, &cursor, LONG).await);
    assert_eq!(mailbox.waiting(), 0);
}
