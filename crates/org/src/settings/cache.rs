//! The settings as every request may ask for them, without a query each time.

use std::sync::{Arc, PoisonError, RwLock};

use kernel::{Result, Ts};
use time::Duration;

use super::Settings;

/// Another gateway's change is seen after this long at the latest.
const LIFETIME: Duration = Duration::seconds(5);

#[derive(Debug, Default)]
pub struct Cache(RwLock<Option<(Ts, Arc<Settings>)>>);

impl Cache {
    /// The settings that are held, while they are young enough.
    pub fn held(&self, now: Ts) -> Option<Arc<Settings>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.as_ref()
            .filter(|(read_at, _)| *read_at <= now && now < read_at.plus(LIFETIME))
            .map(|(_, settings)| settings.clone())
    }

    /// The settings, from `read` where those that are held are too old.
    pub fn get(&self, now: Ts, read: impl FnOnce() -> Result<Settings>) -> Result<Arc<Settings>> {
        match self.held(now) {
            Some(settings) => Ok(settings),
            None => Ok(self.keep(now, read()?)),
        }
    }

    pub fn keep(&self, now: Ts, settings: Settings) -> Arc<Settings> {
        let settings = Arc::new(settings);
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *held = Some((now, settings.clone()));
        settings
    }
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::{super::Settings, Cache};

    #[test]
    fn settings_are_read_again_after_a_while() {
        let cache = Cache::default();
        let at = Ts::from_unix;
        let mut reads = 0;
        for second in [10, 14, 15, 16] {
            let read = || {
                reads += 1;
                Ok(Settings::default())
            };
            cache.get(at(second), read).unwrap();
        }
        assert_eq!(reads, 2);
    }
}
