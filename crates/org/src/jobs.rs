//! Work on people and groups for which nobody waits.

use db::Database;
use kernel::Result;
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::{
    member,
    namespace::{removal, sharing},
    project::{self, links},
    token::notice,
    user::session,
};

/// Removes memberships, invitations and links to groups whose end has come. They count as gone from that moment on; this is about
/// their rows.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoveExpiredAccess {}

impl Job for RemoveExpiredAccess {
    const KIND: &'static str = "org.remove_expired";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl RemoveExpiredAccess {
    pub async fn run(self, db: &Database) -> Result<()> {
        while db.write(member::actions::remove_expired).await? {}
        db.write(member::invitations::remove_expired).await?;
        while db.write(links::remove_expired).await? {}
        while db.write(sharing::remove_expired).await? {}
        db.write(session::remove_ended).await
    }
}

/// Tells which tokens of projects and groups stop working soon.
#[derive(Debug, Serialize, Deserialize)]
pub struct AnnounceExpiringTokens {}

impl Job for AnnounceExpiringTokens {
    const KIND: &'static str = "org.announce_expiring_tokens";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl AnnounceExpiringTokens {
    pub async fn run(self, db: &Database) -> Result<()> {
        while db.write(notice::announce_expiring).await? {}
        Ok(())
    }
}

/// Takes away groups and projects whose last day has come.
#[derive(Debug, Serialize, Deserialize)]
pub struct RemoveOverdue {}

impl Job for RemoveOverdue {
    const KIND: &'static str = "org.remove_overdue";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl RemoveOverdue {
    pub async fn run(self, db: &Database) -> Result<()> {
        while db.write(removal::remove_overdue).await? {}
        while db.write(project::removal::remove_overdue).await? {}
        Ok(())
    }
}

/// Clears away rows and repositories of what was removed. Files are not this crate's to remove: whoever composes the
/// crates does the work.
#[derive(Debug, Serialize, Deserialize)]
pub struct PurgeDeletions {}

impl Job for PurgeDeletions {
    const KIND: &'static str = "org.purge_removed";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}
