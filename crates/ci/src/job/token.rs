//! Job tokens.

use db::Tx;
use kernel::{Error, Result, ids::JobId};
use secrets::Secret;
use sha2::{Digest as _, Sha256};

use super::{Job, QueueStore as _};
use crate::Status;

/// No token is longer.
const LONGEST: usize = 255;

/// A job's token, worth something while the job runs. Of the database's copy only the digest is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobToken(Secret);

impl JobToken {
    /// How every token begins.
    pub const PREFIX: &'static str = "glcbt-";

    /// A new one, which nobody can guess.
    pub fn generate() -> Self {
        Self::given(format!("{}{}", Self::PREFIX, hex::encode(rand::random::<[u8; 20]>())))
    }

    /// One given by a client.
    pub fn given(text: impl Into<String>) -> Self {
        Self(Secret::new(text))
    }

    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub(crate) fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.reveal()))
    }

    fn is_plausible(&self) -> bool {
        (1..=LONGEST).contains(&self.reveal().len())
    }
}

/// The job whose token this is, whether or not it runs any more: who asks has to look.
///
/// # Errors
/// `Forbidden` where there is no such job, or the token is another one's.
pub fn authenticate(tx: &mut Tx<'_>, id: JobId, token: &JobToken) -> Result<Job> {
    let found = find_job(tx, token)?;
    found.filter(|job| job.id == id).ok_or_else(Error::forbidden)
}

/// The job that a token is of and that runs.
pub fn running_job(tx: &mut Tx<'_>, token: &JobToken) -> Result<Option<Job>> {
    Ok(find_job(tx, token)?.filter(|job| job.status == Status::Running))
}

/// The job that a token is of, whether or not it runs any more.
pub fn find_job(tx: &mut Tx<'_>, token: &JobToken) -> Result<Option<Job>> {
    match token.is_plausible() {
        true => tx.find_job_by_token(&token.digest()),
        false => Ok(None),
    }
}
