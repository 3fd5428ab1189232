//! Request limits.

use std::time::Duration;

use entities::server::settings::ConfiguredLimits;

/// Bounds on what comes from outside.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request body, git pushes and uploads excepted.
    pub body: usize,
    /// Bytes of one uploaded file.
    pub upload: u64,
    /// Bytes of one git push; 0 is no limit.
    pub push: u64,
    /// Bytes of one object in a git push, unpacked; 0 is no limit.
    pub object: u64,
    /// How long a client may take to begin with its request; see [`SlowClientGuard`](crate::extract::SlowClientGuard).
    pub patience: Duration,
    /// Requests a minute by one person; 0 is no limit.
    pub user_per_minute: u32,
    /// Requests a minute from one address without a credential; 0 is no limit.
    pub address_per_minute: u32,
    /// Archives a minute for one person or address; 0 is no limit.
    pub archives_per_minute: u32,
    /// Questions a minute by one person whether a path is taken; 0 is no limit.
    pub namespaces_per_minute: u32,
    /// Records of single people that one person asks for in ten minutes; 0 is no limit.
    pub people_per_ten_minutes: u32,
    /// Notes that one person writes in a minute; 0 is no limit.
    pub notes_per_minute: u32,
    /// Issues that one person writes in a minute; 0 is no limit.
    pub issues_per_minute: u32,
    /// Calls of monitors that one project takes in a minute; 0 is no limit.
    pub alerts_per_minute: u32,
    /// People and addresses invited in a day into one namespace at the top and all in it; 0 is no limit.
    pub invites_per_day: u32,
}

impl Limits {
    /// For who shows no credential: what a form without files may have.
    #[must_use]
    pub fn for_strangers(self) -> Self {
        const MOST: usize = 1 << 20;
        Self { body: self.body.min(MOST), upload: self.upload.min(1 << 20), ..self }
    }
}

impl From<Limits> for ConfiguredLimits {
    fn from(limits: Limits) -> Self {
        Self {
            issues_per_minute: limits.issues_per_minute,
            notes_per_minute: limits.notes_per_minute,
            people_per_ten_minutes: limits.people_per_ten_minutes,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            upload: 200 << 20,
            push: 0,
            object: 512 << 20,
            patience: Duration::from_secs(10),
            user_per_minute: 0,
            address_per_minute: 0,
            archives_per_minute: 0,
            namespaces_per_minute: 0,
            people_per_ten_minutes: 0,
            notes_per_minute: 0,
            issues_per_minute: 0,
            alerts_per_minute: 0,
            invites_per_day: 0,
        }
    }
}
