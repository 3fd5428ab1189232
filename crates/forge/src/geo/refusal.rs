//! Why nothing may be written at the moment.

use kernel::Error;

use crate::Forge;

const READ_ONLY: &str = "You cannot perform write operations on a read-only instance";
const MAINTENANCE: &str = "GitLab is undergoing maintenance";

/// Reasons for which a server is read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteRefusal {
    /// It copies another one.
    Secondary,
    /// Administrators maintain the installation, and tell people this.
    Maintenance(String),
}

impl WriteRefusal {
    /// The sentence that callers are told.
    pub fn text(&self) -> &str {
        match self {
            Self::Secondary => READ_ONLY,
            Self::Maintenance(text) => text,
        }
    }
}

impl From<WriteRefusal> for Error {
    fn from(refusal: WriteRefusal) -> Self {
        match refusal {
            WriteRefusal::Secondary => Self::forbidden().whole(READ_ONLY),
            WriteRefusal::Maintenance(text) => Self::unavailable(text),
        }
    }
}

impl Forge {
    /// Why nothing may be written at the moment; `None` where everything may.
    pub fn write_refusal(&self) -> Option<WriteRefusal> {
        if !self.node_identity.is_primary() {
            return Some(WriteRefusal::Secondary);
        }
        let settings = self.settings();
        let text = || settings.maintenance_mode_message().unwrap_or(MAINTENANCE).to_owned();
        settings.maintenance_mode().then(|| WriteRefusal::Maintenance(text()))
    }
}
