//! The facts of the outbox, read once for all subscribers of this server, as long as there are any.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use db::{Database, outbox};
use forge::slots::SlotOwner;
use kernel::{Error, Result};
use tokio::{
    sync::{Mutex as AsyncMutex, broadcast, watch},
    time::timeout,
};

use super::fact::Fact;

/// How often the outbox is asked where this server announced nothing: others of the installation write to it, too, and
/// on PostgreSQL a fact may become final later than its transaction.
const PAUSE: Duration = Duration::from_secs(1);
/// So many facts are read at once.
const AT_ONCE: i64 = 500;
/// A subscriber who is so many facts behind is sent away.
const BEHIND: usize = 2_048;
/// Connections with subscriptions, all together.
const MOST: usize = 2_000;
/// Of these, connections that one person or address has.
const MOST_OF_ONE: usize = 50;
/// Seconds after which it is worth to try again.
const LATER: u64 = 30;

type Sender = broadcast::Sender<Arc<Fact>>;

/// All who subscribed at this server.
#[derive(Debug)]
pub struct Subscribers {
    places: Mutex<SlotCount>,
    /// Where facts are told while there is somebody to hear them.
    sender: Arc<AsyncMutex<Option<Sender>>>,
    is_closed: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct SlotCount {
    all: usize,
    own: HashMap<SlotOwner, usize>,
}

impl Default for Subscribers {
    fn default() -> Self {
        Self {
            places: Mutex::default(),
            sender: Arc::default(),
            is_closed: watch::Sender::new(false),
        }
    }
}

impl SlotCount {
    /// # Errors
    /// `TooMany` where the person or address has as many as one may have.
    fn take_own(&mut self, who: SlotOwner) -> Result<()> {
        let own = self.own.entry(who).or_default();
        if *own >= MOST_OF_ONE {
            return Err(Error::too_many(LATER));
        }
        *own += 1;
        Ok(())
    }

    fn give_back_own(&mut self, who: SlotOwner) {
        if let Some(own) = self.own.get_mut(&who) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                self.own.remove(&who);
            }
        }
    }
}

/// A connection's place, given back when it is dropped.
pub struct SubscriberSlot<S: AsRef<Subscribers>> {
    all: S,
    who: Mutex<SlotOwner>,
}

impl Subscribers {
    fn places(&self) -> MutexGuard<'_, SlotCount> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a connection.
    ///
    /// # Errors
    /// `TooMany` where all places are taken, `Unavailable` where the server is about to stop.
    fn enter(&self, who: SlotOwner) -> Result<()> {
        if *self.is_closed.borrow() {
            return Err(Error::out_of_reach("the server stops"));
        }
        let mut places = self.places();
        if places.all >= MOST {
            return Err(Error::too_many(LATER));
        }
        places.take_own(who)?;
        places.all += 1;
        Ok(())
    }

    /// Counts a place that somebody has for somebody else.
    ///
    /// # Errors
    /// `TooMany` where the other has as many as one may have.
    fn pass(&self, from: SlotOwner, to: SlotOwner) -> Result<()> {
        if from == to {
            return Ok(());
        }
        let mut places = self.places();
        places.take_own(to)?;
        places.give_back_own(from);
        Ok(())
    }

    fn leave(&self, who: SlotOwner) {
        let mut places = self.places();
        places.all = places.all.saturating_sub(1);
        places.give_back_own(who);
    }

    /// Sends everybody away: the server stops.
    pub fn close(&self) {
        self.is_closed.send_replace(true);
    }

    /// Changes when the server is about to stop.
    pub fn end(&self) -> watch::Receiver<bool> {
        self.is_closed.subscribe()
    }

    /// The facts that become final from now on.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn listen(&self, db: &Database) -> Result<broadcast::Receiver<Arc<Fact>>> {
        let mut sender = self.sender.lock().await;
        if let Some(sender) = &*sender {
            return Ok(sender.subscribe());
        }
        let from = db.read(outbox::end).await?;
        let (new, receiver) = broadcast::channel(BEHIND);
        *sender = Some(new.clone());
        drop(kernel::task::spawn(tell(db.clone(), from, new, self.sender.clone())));
        Ok(receiver)
    }
}

/// Tells facts until nobody hears them any more.
async fn tell(
    db: Database,
    mut position: outbox::Position,
    sender: Sender,
    place: Arc<AsyncMutex<Option<Sender>>>,
) {
    let mut announced = db.announcements();
    loop {
        announced.mark_unchanged();
        if sender.receiver_count() == 0 {
            let mut place = place.lock().await;
            // Somebody may have come meanwhile; nobody can while the lock is held.
            if sender.receiver_count() == 0 {
                *place = None;
                return;
            }
        }
        let found = match db.read(move |tx| outbox::after(tx, position, AT_ONCE)).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the outbox cannot be read for subscriptions");
                Vec::new()
            }
        };
        for event in &found {
            position = event.position();
            if let Some(fact) = Fact::of(event) {
                // Whoever left does not mind.
                drop(sender.send(Arc::new(fact)));
            }
        }
        if found.is_empty() {
            // Whichever comes first; the sender of announcements lives as long as the database.
            let _ = timeout(PAUSE, announced.changed()).await;
        }
    }
}

impl<S: AsRef<Subscribers>> SubscriberSlot<S> {
    /// Takes a place among all subscribers.
    ///
    /// # Errors
    /// `TooMany` where all places are taken, `Unavailable` where the server is about to stop.
    pub fn take(all: S, who: SlotOwner) -> Result<Self> {
        all.as_ref().enter(who)?;
        Ok(Self { all, who: Mutex::new(who) })
    }

    /// Counts the place for somebody else from now on.
    ///
    /// # Errors
    /// `TooMany` where they have as many as one may have; the place stays whose it is.
    pub fn pass_to(&self, who: SlotOwner) -> Result<()> {
        let mut owner = self.who.lock().unwrap_or_else(PoisonError::into_inner);
        self.all.as_ref().pass(*owner, who)?;
        *owner = who;
        Ok(())
    }
}

impl<S: AsRef<Subscribers>> Drop for SubscriberSlot<S> {
    fn drop(&mut self) {
        let who = *self.who.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.all.as_ref().leave(who);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forge::slots::SlotOwner;
    use kernel::ids::UserId;

    use super::{MOST_OF_ONE, SubscriberSlot, Subscribers};

    #[test]
    fn nobody_has_all_places_and_each_is_given_back() {
        let all = Arc::new(Subscribers::default());
        let take = |user| SubscriberSlot::take(all.clone(), SlotOwner::User(UserId(user)));
        let own: Vec<_> = (0..MOST_OF_ONE).map(|_| take(1).expect("a place")).collect();
        let refused = take(1).err().expect("a refusal");
        assert!(refused.retry_after().is_some(), "{refused}");
        let other = take(2).expect("a place");
        drop((own, other));
        let places = all.places();
        assert!(places.all == 0 && places.own.is_empty());
    }

    #[test]
    fn a_place_is_passed_on_to_whoever_has_room() {
        let all = Arc::new(Subscribers::default());
        let take = |who| SubscriberSlot::take(all.clone(), who).expect("a place");
        let (address, user) = (SlotOwner::Address(None), SlotOwner::User(UserId(1)));
        let mut held: Vec<_> = (1..MOST_OF_ONE).map(|_| take(user)).collect();
        let (last, surplus) = (take(address), take(address));
        last.pass_to(user).expect("room for one more");
        last.pass_to(user).expect("it is theirs already");
        assert!(surplus.pass_to(user).is_err());
        assert_eq!(all.places().own.get(&address), Some(&1), "what was refused stays");
        held.extend([last, surplus]);
        drop(held);
        let places = all.places();
        assert!(places.all == 0 && places.own.is_empty());
    }

    #[test]
    fn nobody_comes_when_the_server_stops() {
        let all = Arc::new(Subscribers::default());
        let mut end = all.end();
        all.close();
        assert!(*end.borrow_and_update());
        assert!(SubscriberSlot::take(all, SlotOwner::Address(None)).is_err());
    }
}
