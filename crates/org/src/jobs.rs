//! Work on people and groups for which nobody waits.

use db::Database;
use kernel::Result;
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::member;

/// Takes away the access of memberships whose end has come.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClearEnded {}

impl Job for ClearEnded {
    const KIND: &'static str = "org.clear_ended";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl ClearEnded {
    pub async fn run(self, db: &Database) -> Result<()> {
        while db.write(member::actions::clear_ended).await? {}
        Ok(())
    }
}
