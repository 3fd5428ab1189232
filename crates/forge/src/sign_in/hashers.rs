//! The threads that hash. Each hash takes a core for a while and twenty megabytes, so there are few of them, few who
//! wait, and whoever comes then is sent away before anything is done for them.

use std::{
    collections::HashMap,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use kernel::{Error, Result};
use tokio::sync::oneshot;

use crate::slots::SlotOwner;

/// Always the same threads: what the allocator keeps for each is as much as one hash needs.
const THREADS: usize = 2;
/// Hashes under way and waiting: about a second's worth.
const SEATS: usize = 32;
/// Nobody has more of them.
const SEATS_OF_ONE: usize = SEATS / 2;
/// How far the threads step back for others (`nice`): on a busy machine whoever reads goes first, a database beside it too.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;
/// Seconds after which there may be a seat again.
const SOON: u64 = 2;

type Work = Box<dyn FnOnce() + Send>;

/// The function that starts a thread.
type Spawn = fn(Box<dyn FnOnce() + Send>) -> io::Result<()>;

pub(super) struct Hashers {
    seats: Arc<Mutex<HashMap<SlotOwner, usize>>>,
    /// Begun when there is something to hash; they end with the sender.
    threads: Mutex<Option<Sender<Work>>>,
    spawn: Spawn,
}

impl Default for Hashers {
    fn default() -> Self {
        Self { seats: Arc::default(), threads: Mutex::default(), spawn }
    }
}

/// One of the few who may wait; given back when it is dropped.
pub struct Seat {
    seats: Arc<Mutex<HashMap<SlotOwner, usize>>>,
    who: SlotOwner,
    threads: Sender<Work>,
}

impl Hashers {
    /// A seat, where one is left for whoever asks.
    ///
    /// # Errors
    /// `TooMany` where none is; `Unavailable` while no thread can be begun.
    pub(super) fn seat(&self, who: SlotOwner) -> Result<Seat> {
        let threads = self.threads()?;
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let (taken, own) = (seats.values().sum::<usize>(), seats.get(&who).copied());
        if taken >= SEATS || own.is_some_and(|own| own >= SEATS_OF_ONE) {
            metrics::counter!("forgeway_rate_limited_total", "limit" => "passwords_at_once")
                .increment(1);
            return Err(Error::too_many(SOON));
        }
        *seats.entry(who).or_default() += 1;
        drop(seats);
        Ok(Seat { seats: Arc::clone(&self.seats), who, threads })
    }

    /// Whoever comes next tries again where none could be begun.
    fn threads(&self) -> Result<Sender<Work>> {
        let mut kept = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(threads) = &*kept {
            return Ok(threads.clone());
        }
        let threads = begin(self.spawn)?;
        *kept = Some(threads.clone());
        Ok(threads)
    }
}

impl Seat {
    /// Does something slow when its turn comes, also for somebody who has gone meanwhile: the seat is taken as long.
    pub(super) async fn work<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let threads = self.threads.clone();
        let work = move || {
            let seat = self;
            let done = work();
            drop(seat);
            // Nobody waits for it any more.
            let _gone = tell.send(done);
        };
        threads.send(Box::new(work)).map_err(|_closed| Error::internal("no thread hashes"))?;
        told.await.map_err(Error::internal)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = seats.get_mut(&self.who) {
            *own -= 1;
            if *own == 0 {
                seats.remove(&self.who);
            }
        }
    }
}

/// One thread does, where there cannot be more.
fn begin(spawn: Spawn) -> Result<Sender<Work>> {
    let (sender, receiver) = mpsc::channel();
    let receiver = Arc::new(Mutex::new(receiver));
    let mut begun = 0;
    for _ in 0..THREADS {
        let receiver = Arc::clone(&receiver);
        match spawn(Box::new(move || run(&receiver))) {
            Ok(()) => begun += 1,
            Err(cause) => {
                tracing::error!(error = %cause, "a thread that hashes passwords could not be started");
            }
        }
    }
    match begun {
        0 => Err(Error::unavailable("no thread can be started to hash passwords")),
        _ => Ok(sender),
    }
}

fn spawn(thread: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    let thread = || {
        step_back();
        thread();
    };
    thread::Builder::new().name("passwords".to_owned()).spawn(thread).map(drop)
}

/// Linux alone counts this for the thread; elsewhere it would hold for the whole server.
fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(cause) = rustix::process::nice(NICE) {
        tracing::debug!(error = %cause, "passwords are hashed with the priority of everything else");
    }
}

fn run(work: &Mutex<Receiver<Work>>) {
    loop {
        let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            tracing::error!("a password could not be hashed");
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::{
        error::{Kind, Message},
        ids::UserId,
    };

    use super::{Hashers, SEATS, SEATS_OF_ONE, Seat};
    use crate::slots::SlotOwner;

    fn seats(hashers: &Hashers, who: SlotOwner, count: usize) -> Vec<Seat> {
        (0..count).map(|_| hashers.seat(who).ok()).collect::<Option<_>>().expect("seats")
    }

    #[tokio::test]
    async fn so_many_wait_and_the_next_is_sent_away() {
        let hashers = Hashers::default();
        let (ada, bob) = (SlotOwner::User(UserId(1)), SlotOwner::User(UserId(2)));

        let own = seats(&hashers, ada, SEATS_OF_ONE);
        let refused = hashers.seat(ada).err();
        assert!(
            refused.is_some_and(|refused| refused.retry_after() == Some(2)),
            "half are one's share"
        );
        let others = seats(&hashers, bob, SEATS - SEATS_OF_ONE);
        assert!(hashers.seat(SlotOwner::Address(None)).is_err(), "all are taken");

        drop(others);
        for seat in own {
            assert_eq!(seat.work(|| 7).await.unwrap(), 7);
        }
        assert_eq!(seats(&hashers, ada, SEATS_OF_ONE).len(), SEATS_OF_ONE, "they were given back");
    }

    #[tokio::test]
    async fn threads_that_could_not_be_begun_are_begun_by_the_next() {
        let none = |_| Err(std::io::Error::other("too many threads"));
        let mut hashers = Hashers { spawn: none, ..Hashers::default() };
        let refused = hashers.seat(SlotOwner::Address(None)).err();
        assert!(
            matches!(
                refused.as_ref().map(|refused| (refused.kind, &refused.message)),
                Some((Kind::Unavailable, Message::LogOnly(_)))
            ),
            "{refused:?}"
        );

        hashers.spawn = super::spawn;

        let seat = hashers.seat(SlotOwner::Address(None)).unwrap();
        assert_eq!(seat.work(|| 7).await.unwrap(), 7);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn those_who_hash_step_back_for_others() {
        let hashers = Hashers::default();
        let here = rustix::process::getpriority_process(None).unwrap();
        let seat = hashers.seat(SlotOwner::Address(None)).unwrap();
        let there = seat.work(|| rustix::process::getpriority_process(None).unwrap()).await;
        assert_eq!(there.unwrap(), (here + super::NICE).min(19));
        assert_eq!(rustix::process::getpriority_process(None).unwrap(), here);
    }

    #[tokio::test]
    async fn work_that_breaks_off_takes_no_thread_along() {
        let hashers = Hashers::default();
        for _ in 0..4 {
            let seat = hashers.seat(SlotOwner::Address(None)).unwrap();
            let broken = seat.work(|| std::iter::empty::<i64>().next().expect("nothing")).await;
            assert!(broken.is_err());
        }
        let seat = hashers.seat(SlotOwner::Address(None)).unwrap();
        assert_eq!(seat.work(|| 7).await.unwrap(), 7);
    }
}
