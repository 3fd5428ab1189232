//! The threads that hash. Each hash takes a core for a while and twenty megabytes, so there are few of them, few who
//! wait, and whoever comes then is sent away before anything is done for them.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use kernel::{Error, Result};
use tokio::sync::oneshot;

use crate::{metrics, places::Who};

/// Always the same threads: what the allocator keeps for each is as much as one hash needs.
const THREADS: usize = 2;
/// Hashes under way and waiting: about a second's worth.
const SEATS: usize = 32;
/// Nobody has more of them.
const SEATS_OF_ONE: usize = SEATS / 2;
/// Seconds after which there may be a seat again.
const SOON: u64 = 2;

type Work = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct Hashers {
    seats: Arc<Mutex<HashMap<Who, usize>>>,
    /// Begun when there is something to hash; they end with the sender.
    threads: OnceLock<Sender<Work>>,
}

/// One of the few who may wait; given back when it is dropped.
pub struct Seat {
    seats: Arc<Mutex<HashMap<Who, usize>>>,
    who: Who,
    threads: Sender<Work>,
}

impl Hashers {
    /// A seat, where one is left for whoever asks.
    ///
    /// # Errors
    /// `TooMany` where none is.
    pub(super) fn seat(&self, who: Who) -> Result<Seat> {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let (taken, own) = (seats.values().sum::<usize>(), seats.get(&who).copied());
        if taken >= SEATS || own.is_some_and(|own| own >= SEATS_OF_ONE) {
            metrics::refused("passwords_at_once");
            return Err(Error::TooMany { retry_after: SOON });
        }
        *seats.entry(who).or_default() += 1;
        drop(seats);
        let threads = self.threads.get_or_init(begin).clone();
        Ok(Seat { seats: Arc::clone(&self.seats), who, threads })
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

fn begin() -> Sender<Work> {
    let (sender, receiver) = mpsc::channel();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..THREADS {
        let receiver = Arc::clone(&receiver);
        let begun =
            thread::Builder::new().name("passwords".to_owned()).spawn(move || run(&receiver));
        if let Err(cause) = begun {
            tracing::error!(error = %cause, "a thread that hashes passwords could not be started");
        }
    }
    sender
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
    use kernel::{Error, ids::UserId};

    use super::{Hashers, SEATS, SEATS_OF_ONE, Seat};
    use crate::places::Who;

    fn seats(hashers: &Hashers, who: Who, count: usize) -> Vec<Seat> {
        (0..count).map(|_| hashers.seat(who).ok()).collect::<Option<_>>().expect("seats")
    }

    #[actix_web::test]
    async fn so_many_wait_and_the_next_is_sent_away() {
        let hashers = Hashers::default();
        let (ada, bob) = (Who::User(UserId(1)), Who::User(UserId(2)));

        let own = seats(&hashers, ada, SEATS_OF_ONE);
        let refused = hashers.seat(ada).err();
        assert!(matches!(refused, Some(Error::TooMany { retry_after: 2 })), "half are one's share");
        let others = seats(&hashers, bob, SEATS - SEATS_OF_ONE);
        assert!(hashers.seat(Who::Address(None)).is_err(), "all are taken");

        drop(others);
        for seat in own {
            assert_eq!(seat.work(|| 7).await.unwrap(), 7);
        }
        assert_eq!(seats(&hashers, ada, SEATS_OF_ONE).len(), SEATS_OF_ONE, "they were given back");
    }

    #[actix_web::test]
    async fn work_that_breaks_off_takes_no_thread_along() {
        let hashers = Hashers::default();
        for _ in 0..4 {
            let seat = hashers.seat(Who::Address(None)).unwrap();
            let broken = seat.work(|| std::iter::empty::<i64>().next().expect("nothing")).await;
            assert!(broken.is_err());
        }
        let seat = hashers.seat(Who::Address(None)).unwrap();
        assert_eq!(seat.work(|| 7).await.unwrap(), 7);
    }
}
