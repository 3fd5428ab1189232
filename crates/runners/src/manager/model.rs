//! A manager as it is stored, and what one tells of itself.

use diesel::prelude::{Queryable, Selectable};
use kernel::{Faults, Result, Ts, ids::RunnerId};

use crate::runner::{RunnerStatus, manager_status};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::runner_managers, check_for_backend(db::AnyBackend))]
pub struct Manager {
    pub id: i64,
    pub runner_id: RunnerId,
    pub system_id: String,
    pub version: Option<String>,
    pub revision: Option<String>,
    pub platform: Option<String>,
    pub architecture: Option<String>,
    pub ip_address: Option<String>,
    pub created_at: Ts,
    pub contacted_at: Option<Ts>,
}

impl Manager {
    pub fn status(&self, now: Ts) -> RunnerStatus {
        manager_status(self.created_at, self.contacted_at, now)
    }
}

/// The attributes that a runner manager reports when it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contact {
    /// Which of the programs that share the token it is.
    pub system_id: Option<String>,
    pub name: Option<String>,
    pub version: Option<String>,
    pub revision: Option<String>,
    pub platform: Option<String>,
    pub architecture: Option<String>,
    pub ip_address: Option<String>,
}

/// The name of those that tell none.
const UNNAMED: &str = "<legacy>";
/// A column holds so many signs.
const LONGEST: usize = 255;
/// Letters of the name of a machine.
const LONGEST_SYSTEM_ID: usize = 64;

impl Contact {
    pub fn system_id(&self) -> &str {
        self.system_id.as_deref().filter(|id| !id.is_empty()).unwrap_or(UNNAMED)
    }

    /// # Errors
    /// `BadRequest` where the name of the machine is too long.
    pub fn ensure_sound(&self) -> Result<()> {
        let mut faults = Faults::default();
        faults.at_most("system_id", self.system_id.as_deref(), LONGEST_SYSTEM_ID);
        faults.into_result()
    }

    /// The same, short enough to be stored; the name of the machine is left as it is.
    #[must_use]
    pub fn bounded(self) -> Self {
        let cut = |text: Option<String>| text.map(|text| text.chars().take(LONGEST).collect());
        Self {
            system_id: self.system_id,
            name: cut(self.name),
            version: cut(self.version),
            revision: cut(self.revision),
            platform: cut(self.platform),
            architecture: cut(self.architecture),
            ip_address: cut(self.ip_address),
        }
    }
}
