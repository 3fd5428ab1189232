//! Signatures of commits.

use std::{collections::HashMap, sync::Arc};

use dataloader::{BatchFn, cached::Loader};
use forge::{Forge, commit::signatures};
use futures_util::future::join_all;
use graphql::{Failure, Value};
use kernel::ids::{ProjectId, UserId};
use org::key::{gpg::store::GpgKeyStore as _, signature::Verdict};
use repo::git::{Oid, SignedObject};

use super::commit::CommitRecord;
use crate::{context::Context, failure::failure_of, loaders::BatchLoader, people, projects};

type SignatureKey = (ProjectId, Oid);
type SignatureAnswer = Result<Option<Arc<Verdict>>, Failure>;

/// Checks signatures: all that a query asks of at a time by one visit to each repository, and their keys together.
struct SignatureLoader(Loader<SignatureKey, SignatureAnswer, SignatureBatch>);

struct SignatureBatch(Forge);

impl SignatureLoader {
    fn new(forge: &Forge) -> Self {
        Self(Loader::new(SignatureBatch(forge.clone())))
    }
}

impl BatchFn<SignatureKey, SignatureAnswer> for SignatureBatch {
    async fn load(&mut self, keys: &[SignatureKey]) -> HashMap<SignatureKey, SignatureAnswer> {
        match self.verdicts(keys).await {
            Ok(mut found) => keys.iter().map(|key| (*key, Ok(found.remove(key)))).collect(),
            Err(failure) => keys.iter().map(|key| (*key, Err(failure.clone()))).collect(),
        }
    }
}

impl SignatureBatch {
    async fn verdicts(
        &self,
        keys: &[SignatureKey],
    ) -> Result<HashMap<SignatureKey, Arc<Verdict>>, Failure> {
        let mut commits: HashMap<ProjectId, Vec<Oid>> = HashMap::new();
        for (project, id) in keys {
            commits.entry(*project).or_default().push(*id);
        }
        let visits = commits.into_iter().map(|(project, ids)| self.signed(project, ids));
        let (mut keys, mut objects) = (Vec::new(), Vec::new());
        for visit in join_all(visits).await {
            for (key, object) in visit.map_err(failure_of)? {
                keys.push(key);
                objects.push(object);
            }
        }
        if objects.is_empty() {
            return Ok(HashMap::new());
        }
        let verdicts = signatures::verdicts(&self.0, objects).await.map_err(failure_of)?;
        Ok(keys.into_iter().zip(verdicts.into_iter().map(Arc::new)).collect())
    }

    /// Those of some commits that are signed.
    async fn signed(
        &self,
        project: ProjectId,
        ids: Vec<Oid>,
    ) -> kernel::Result<Vec<(SignatureKey, SignedObject)>> {
        let read = self.0.git_read(project, move |reader| {
            let mut all = Vec::new();
            for id in ids {
                if let Some(object) = reader.signature(id)? {
                    all.push(((project, id), object));
                }
            }
            Ok(all)
        });
        read.await
    }
}

/// What is known of the signature of a commit; null where it has none.
///
/// # Errors
/// When the database or the repository failed.
pub(super) async fn signature(context: &Context, record: &CommitRecord) -> Result<Value, Failure> {
    let id = record.commit.id;
    let loader = context.loaders.of(|_| SignatureLoader::new(&context.forge));
    let found = loader.0.try_load((record.project.id(), id)).await.map_err(Failure::internal)??;
    let Some(verdict) = found else { return Ok(Value::Null) };
    let sha = Value::from(id.to_string());
    let project = projects::project(record.project.clone());
    let status = |word: &str| Value::from(word.to_uppercase());
    Ok(match Verdict::clone(&verdict) {
        Verdict::Pgp(verdict) => Value::fields(
            "GpgSignature",
            [
                ("commitSha", sha),
                ("gpgKeyPrimaryKeyid", verdict.keyid.clone().into()),
                ("gpgKeyUserEmail", verdict.email.into()),
                ("gpgKeyUserName", verdict.name.into()),
                ("project", project),
                ("user", key_owner(context, verdict.key, verdict.keyid).await?),
                ("verificationStatus", status(verdict.verification.as_str())),
            ],
        ),
        Verdict::Ssh(verdict) => Value::fields(
            "SshSignature",
            [
                ("commitSha", sha),
                ("project", project),
                (
                    "user",
                    verdict
                        .key
                        .map(|(_, owner)| people::user_of(&context.forge.urls, &owner.summary()))
                        .into(),
                ),
                ("verificationStatus", status(verdict.verification.as_str())),
            ],
        ),
        Verdict::X509(verdict) => Value::fields(
            "X509Signature",
            [
                ("commitSha", sha),
                ("project", project),
                ("user", Value::Null),
                ("verificationStatus", status(verdict.verification.as_str())),
            ],
        ),
    })
}

/// Loads whose OpenPGP keys are, by their ids and the ids that signatures name.
struct KeyOwnerLoader(BatchLoader<(i64, String), UserId>);

/// Whose the OpenPGP key is that made a signature, where it is registered.
async fn key_owner(
    context: &Context,
    key: Option<i64>,
    keyid: Option<String>,
) -> Result<Value, Failure> {
    let (Some(key), Some(keyid)) = (key, keyid) else { return Ok(Value::Null) };
    let owners = context.loaders.of(|db| {
        KeyOwnerLoader(BatchLoader::new(db, |tx, keys: &[(i64, String)]| {
            let names: Vec<String> = keys.iter().map(|(_, keyid)| keyid.clone()).collect();
            let found = tx.gpg_keys_with(&names)?;
            let owner = |wanted: &(i64, String)| {
                let mut rows = found.iter().map(|(row, _)| row);
                let row = rows.find(|row| row.id.0 == wanted.0)?;
                Some((wanted.clone(), row.user_id))
            };
            Ok(keys.iter().filter_map(owner).collect())
        }))
    });
    match owners.0.load((key, keyid)).await? {
        Some(owner) => people::of_id(context, owner).await,
        None => Ok(Value::Null),
    }
}
