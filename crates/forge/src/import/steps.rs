//! Steps of imports that are under way. They wait for servers elsewhere, so they are done beside the queue, which does
//! one piece of work after the other.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{sync::Semaphore, task::JoinSet};

/// Steps that are under way at once.
const AT_ONCE: usize = 4;

#[derive(Debug)]
pub struct RunningSteps {
    places: Arc<Semaphore>,
    tasks: Mutex<JoinSet<()>>,
}

impl Default for RunningSteps {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), tasks: Mutex::default() }
    }
}

impl RunningSteps {
    /// Does a step once there is a place for it.
    pub(crate) fn spawn(&self, step: impl Future<Output = ()> + Send + 'static) {
        self.spawn_boxed(Box::pin(step));
    }

    fn spawn_boxed(&self, step: Pin<Box<dyn Future<Output = ()> + Send>>) {
        let places = Arc::clone(&self.places);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            // Nobody closes the semaphore.
            let _place = places.acquire_owned().await;
            step.await;
        });
    }

    /// Waits until all steps that were begun have ended; how many these were. For tests and tools.
    pub async fn finish(&self) -> usize {
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        let mut count = 0;
        while tasks.join_next().await.is_some() {
            count += 1;
        }
        count
    }
}
