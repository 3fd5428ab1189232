//! A piece of work: data with a name.

use serde::{Serialize, de::DeserializeOwned};

/// Work that can be written down. Running it twice must do no harm: a crash may end it just before it is ticked off.
pub trait Job: Serialize + DeserializeOwned + Send + 'static {
    /// Its name in the queue; never changes once released.
    const KIND: &'static str;

    /// Work with the same key that still waits is the same work.
    fn unique_key(&self) -> Option<String> {
        None
    }
}
