//! Asking a git server, and taking its pack.

use std::{
    io::{BufWriter, Seek as _, SeekFrom},
    time::Duration,
};

use kernel::{Error, task::spawn_blocking};
use outbound::{Exchange, FetchLimits, may_have_credentials};
use repo::git::{Oid, RepoPath, cli::ProcessClass};

use super::protocol::{Advertisement, PackSplitter, ProtocolError};
use crate::{
    Forge,
    import::{SourceClient, SourceError},
};

/// What a source says of its refs. Attempts at one that accepts connections and says nothing end within a few minutes.
const REFS: FetchLimits = FetchLimits { bytes: 64 << 20, time: Duration::from_secs(30) };
/// A whole repository.
const PACK: FetchLimits = FetchLimits { bytes: 20 << 30, time: Duration::from_secs(20 * 60) };
/// All objects are looked at, as those of a push are: flaws that old histories are full of do no harm.
const STRICT: &str = "--strict=badDate=warn,badDateOverflow=warn,badEmail=warn,badFilemode=warn,\
    badName=warn,badTagName=ignore,badTimezone=warn,emptyName=warn,gitmodulesMissing=warn,\
    gitmodulesParse=warn,missingEmail=warn,missingNameBeforeEmail=warn,missingSpaceBeforeDate=warn,\
    missingSpaceBeforeEmail=warn,missingTaggerEntry=ignore,multipleAuthors=warn,zeroPaddedDate=warn,\
    zeroPaddedFilemode=warn";
/// What is asked for the refs, below the address of a repository.
const REFS_SUFFIX: &str = "/info/refs";
/// How long git may take to index a pack.
const INDEXING: Duration = Duration::from_secs(8 * 60);

/// A repository elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    client: SourceClient,
    /// Without a slash at its end.
    url: String,
    authorization: Option<String>,
}

/// Of a pack, which may have been cut off on its way.
impl From<ProtocolError> for SourceError {
    fn from(error: ProtocolError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// Of the refs: what is no git server, or refuses the repository, does so each time.
fn no_repository(error: &ProtocolError) -> SourceError {
    SourceError::Unusable(match error {
        ProtocolError::Malformed => {
            "there is no git repository at its address: the answer is not one of a git server"
                .to_owned()
        }
        error => error.to_string(),
    })
}

impl Remote {
    pub(crate) fn new(client: SourceClient, url: &str, authorization: Option<String>) -> Self {
        Self { client, url: url.trim_end_matches('/').to_owned(), authorization }
    }

    /// Headers of a request below `base`. The credentials are for the host that they were given for.
    fn headers(&self, base: &str, more: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> =
            more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let authorization =
            self.authorization.clone().filter(|_| may_have_credentials(&self.url, base));
        headers.extend(authorization.map(|text| ("Authorization".to_owned(), text)));
        headers
    }

    /// The refs of the repository, and its address after redirects: as with git, they are for the whole exchange.
    pub(crate) async fn refs(&self) -> Result<Advertisement, SourceError> {
        let url = format!("{}{REFS_SUFFIX}?service=git-upload-pack", self.url);
        let headers = self.headers(&self.url, &[("Accept", "*/*")]);
        let (head, body) = self.client.fetch("GET", url, headers, Vec::new(), REFS).await?;
        self.client.ensure_answered(&head)?;
        let mut refs = Advertisement::parse(&body).map_err(|flaw| no_repository(&flaw))?;
        refs.base = redirected_base(&head.url).unwrap_or(&self.url).to_owned();
        Ok(refs)
    }

    /// Brings objects with their history into a repository, durably; returns the bytes of the pack.
    pub(crate) async fn fetch(
        &self,
        forge: &Forge,
        refs: &Advertisement,
        wanted: &[Oid],
        into: &RepoPath,
    ) -> Result<u64, SourceError> {
        if wanted.is_empty() {
            return Ok(0);
        }
        let body = refs.request(wanted)?;
        let (client, url) = (self.client.agent(), format!("{}/git-upload-pack", refs.base));
        let headers = self.headers(
            &refs.base,
            &[
                ("Content-Type", "application/x-git-upload-pack-request"),
                ("Accept", "application/x-git-upload-pack-result"),
            ],
        );
        let folder = forge.data().to_owned();
        let checks = self.client.clone();
        let fetched = spawn_blocking(move || {
            let file = tempfile::tempfile_in(folder).map_err(Error::internal)?;
            let mut splitter = PackSplitter::new(BufWriter::new(file));
            let request = Exchange {
                method: "POST",
                url: &url,
                headers: &headers,
                body: &body,
                limits: PACK,
            };
            let answered = client.exchange(&request, &mut splitter);
            if let Ok(head) = &answered {
                checks.ensure_answered(head)?;
            }
            // What the server complains of says more than that its answer was not taken.
            if let Some(complaint) = splitter.error.take() {
                return Err(complaint.into());
            }
            answered?;
            let (pack, bytes) = splitter.finish()?;
            let mut file =
                pack.into_inner().map_err(|cause| Error::internal(cause.into_error()))?;
            file.seek(SeekFrom::Start(0)).map_err(Error::internal)?;
            Ok::<_, SourceError>((file, bytes))
        });
        let (file, bytes) = fetched.await.map_err(Error::internal)??;
        index(forge, tokio::fs::File::from_std(file), into).await?;
        Ok(bytes)
    }
}

/// The address of a repository, by the URL that answered with its refs.
fn redirected_base(answered: &str) -> Option<&str> {
    let path = answered.split(['?', '#']).next()?;
    path.strip_suffix(REFS_SUFFIX).map(|base| base.trim_end_matches('/'))
}

/// Has git check a pack and take it into a repository. All objects that it names must be there.
pub(crate) async fn index(
    forge: &Forge,
    mut pack: tokio::fs::File,
    into: &RepoPath,
) -> Result<(), SourceError> {
    let mut indexer = forge
        .git
        .at(into, "index-pack")
        .args(["--stdin", "--fix-thin", STRICT])
        .lane(ProcessClass::Transport)
        .time_limit(INDEXING)
        .start()
        .await
        .map_err(Error::from)?;
    let pipes = (indexer.stdin.take(), indexer.stdout.take());
    let (Some(mut stdin), Some(mut stdout)) = pipes else {
        return Err(Error::internal("a git child has no pipes").into());
    };
    let feed = async {
        // A child that has seen enough closes its end; its status tells the rest.
        let copied = tokio::io::copy(&mut pack, &mut stdin).await;
        drop(stdin);
        copied
    };
    let drain = async { tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await };
    let _both = tokio::join!(feed, drain);
    indexer.finish().await.map_err(|cause| match cause {
        repo::git::GitError::Corrupt(text) => {
            tracing::warn!(%text, "a pack from elsewhere cannot be used");
            unusable_pack(&text)
        }
        failure => Error::from(failure).into(),
    })
}

/// What git's complaint about a pack means.
fn unusable_pack(complaint: &str) -> SourceError {
    const OF_MACHINE: [&str; 5] = ["signal", "No space", "quota", "memory", "unable to"];
    match OF_MACHINE.iter().any(|sign| complaint.contains(sign)) {
        true => SourceError::Unavailable(
            "git could not take the objects in: the log tells administrators why".to_owned(),
        ),
        false => SourceError::Unusable(
            "the git objects of the source are damaged: check them there with git fsck".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{redirected_base, unusable_pack};

    #[test]
    fn the_url_that_answered_is_the_base_of_the_exchange() {
        for (answered, base) in [
            (
                "https://a.test/new/p.git/info/refs?service=git-upload-pack",
                Some("https://a.test/new/p.git"),
            ),
            ("https://a.test/p/info/refs", Some("https://a.test/p")),
            ("https://a.test/login?to=/info/refs", None),
        ] {
            assert_eq!(redirected_base(answered), base, "{answered}");
        }
    }

    #[test]
    fn only_damaged_objects_are_the_fault_of_the_source() {
        let damaged = "git index-pack: exit status: 128: fatal: fsck error in packed object";
        assert!(!unusable_pack(damaged).is_passing());
        for complaint in [
            "git index-pack: signal: 9 (SIGKILL): ",
            "git index-pack: exit status: 128: fatal: write error: No space left on device",
        ] {
            assert!(unusable_pack(complaint).is_passing(), "{complaint}");
        }
    }
}
