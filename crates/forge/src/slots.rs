//! Slots for work that takes a thread for a while: only so many at once, and nobody has them all.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use kernel::{Error, Result, ids::UserId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

tokio::task_local! {
    /// For whom the present request is answered.
    pub static FOR: SlotOwner;
}

/// The user or address that occupies a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotOwner {
    User(UserId),
    /// Somebody without a credential.
    Address(Option<IpAddr>),
}

/// A place, given back when it is dropped: first to all, then to the others of the same person.
pub struct Slot {
    _of_all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

/// So many may wait for each place.
const WAITING: usize = 8;

#[derive(Debug)]
pub struct Slots {
    all: Arc<Semaphore>,
    /// Those who wait and hold much meanwhile.
    waiting: Semaphore,
    each: usize,
    own: Mutex<HashMap<SlotOwner, Arc<Semaphore>>>,
}

impl Slots {
    /// `all` slots, of which one person has at most half.
    pub fn new(all: usize) -> Self {
        let each = all.div_ceil(2).max(1);
        let waiting = Semaphore::new(all * WAITING);
        Self { all: Arc::new(Semaphore::new(all)), waiting, each, own: Mutex::default() }
    }

    /// Waits for a place. Who has their share already waits behind themselves, and keeps nobody else waiting.
    pub async fn take(&self) -> Result<Slot> {
        let own = match FOR.try_with(|who| *who) {
            Ok(who) => Some(self.share(who).acquire_owned().await.map_err(Error::internal)?),
            // Nobody asked: background work.
            Err(_) => None,
        };
        let of_all = Arc::clone(&self.all).acquire_owned().await.map_err(Error::internal)?;
        Ok(Slot { _of_all: of_all, _own: own })
    }

    /// As [`take`](Self::take), for those whose request is large: where many such wait already, one more is to come back.
    pub async fn take_soon(&self) -> Result<Slot> {
        let _waiting = self.waiting.try_acquire().map_err(Error::out_of_reach)?;
        self.take().await
    }

    fn share(&self, who: SlotOwner) -> Arc<Semaphore> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.len() >= FORGET_AT {
            // A share that nobody holds or waits for is as good as a new one.
            own.retain(|_, share| Arc::strong_count(share) > 1);
        }
        let new = || Arc::new(Semaphore::new(self.each));
        Arc::clone(own.entry(who).or_insert_with(new))
    }
}

/// So many shares are remembered before those that are not in use go.
const FORGET_AT: usize = 1024;

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::pin, task::Context, task::Poll, task::Waker};

    use kernel::ids::UserId;

    use super::{FOR, Slot, SlotOwner, Slots};

    fn at_once(slots: &Slots, who: SlotOwner) -> Option<Slot> {
        let asked = pin!(FOR.scope(who, slots.take()));
        match asked.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => place.ok(),
            Poll::Pending => None,
        }
    }

    #[test]
    fn many_who_wait_with_much_are_sent_away() {
        let slots = Slots::new(1);
        let mut cx = Context::from_waker(Waker::noop());
        let _held = at_once(&slots, SlotOwner::Address(None));
        let mut waiting: Vec<_> = (0..9).map(|_| Box::pin(slots.take_soon())).collect();
        let outcomes = waiting.iter_mut().map(|one| one.as_mut().poll(&mut cx));
        let refused = outcomes.filter(|one| matches!(one, Poll::Ready(Err(_)))).count();
        assert_eq!(refused, 1, "eight wait, the ninth is to come back");
    }

    #[test]
    fn nobody_has_every_place() {
        let slots = Slots::new(4);
        let (ada, bob) = (SlotOwner::User(UserId(1)), SlotOwner::User(UserId(2)));

        let held = [at_once(&slots, ada), at_once(&slots, ada)];
        assert!(held.iter().all(Option::is_some));
        assert!(at_once(&slots, ada).is_none(), "half of them is one's share");
        let others = [at_once(&slots, bob), at_once(&slots, SlotOwner::Address(None))];
        assert!(others.iter().all(Option::is_some));
        assert!(at_once(&slots, bob).is_none(), "all are taken");

        drop(held);
        assert!(at_once(&slots, bob).is_some());
    }
}
