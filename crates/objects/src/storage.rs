//! The configured storage: the data folder, or a bucket of an S3-compatible store.

use std::{fmt, path::Path as FilePath, sync::Arc, time::Duration};

use kernel::{Error, Result};
use object_store::{
    ObjectStore, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    local::LocalFileSystem,
    prefix::PrefixStore,
};
use serde::{Deserialize, Serialize};

use crate::{Objects, connector::Connector};

/// How often a failed request is retried, all within [`PATIENCE`].
const RETRIES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(20);

/// A bucket with its credentials.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    pub name: String,
    /// Prefix of all object keys; may be empty.
    pub prefix: String,
    /// `http://…` or `https://…`; `None` for AWS.
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, prefix, endpoint, region, .. } = self;
        write!(f, "s3://{name}/{prefix} in {region} at {endpoint:?}")
    }
}

impl Bucket {
    /// Name and prefix of `s3://BUCKET/PREFIX`.
    pub fn parse_url(url: &str) -> Option<(String, String)> {
        let rest = url.strip_prefix("s3://")?;
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_matches('/');
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_sound = |part: &str| part.chars().all(is_plain) && !matches!(part, "" | "." | "..");
        let sound = is_sound(name) && (prefix.is_empty() || prefix.split('/').all(is_sound));
        sound.then(|| (name.to_owned(), prefix.to_owned()))
    }

    fn open(&self) -> Result<AmazonS3> {
        let retry =
            RetryConfig { max_retries: RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&self.name)
            .with_region(&self.region)
            .with_access_key_id(&self.access_key)
            .with_secret_access_key(&self.secret_key)
            .with_retry(retry)
            .with_http_connector(Connector::new());
        if let Some(endpoint) = &self.endpoint {
            builder =
                builder.with_allow_http(endpoint.starts_with("http://")).with_endpoint(endpoint);
        }
        builder.build().map_err(Error::internal)
    }

    /// The contents of one kind in it.
    pub fn objects(&self, kind: &str) -> Result<Objects> {
        let prefix = format!("{}/{kind}", self.prefix);
        let store: Arc<dyn ObjectStore> = Arc::new(PrefixStore::new(self.open()?, prefix));
        Ok(Objects { store, folder: None, bucket: Some(Arc::new(self.clone())), ledger: None })
    }
}

/// The storage of an installation's contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ContentStorage {
    /// In the data folder.
    #[default]
    DataFolder,
    Bucket(Bucket),
}

impl ContentStorage {
    /// The contents of one kind: a folder of that name, or the objects with that prefix.
    pub fn objects(&self, data: &FilePath, kind: &str) -> Result<Objects> {
        match self {
            Self::DataFolder => Objects::in_folder(&data.join(kind)),
            Self::Bucket(bucket) => bucket.objects(kind),
        }
    }
}

impl Objects {
    /// Contents in a folder, which is created if needed. Stored contents survive a power cut.
    pub fn in_folder(folder: &FilePath) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(Error::internal)?;
        let local = LocalFileSystem::new_with_prefix(folder).map_err(Error::internal)?;
        let store = Arc::new(local.with_fsync(true).with_automatic_cleanup(true));
        Ok(Self { store, folder: Some(folder.into()), bucket: None, ledger: None })
    }
}

#[cfg(test)]
mod tests {
    use super::Bucket;

    #[test]
    fn an_address_names_a_bucket_and_perhaps_a_prefix() {
        let own = |name: &str, prefix: &str| Some((name.to_owned(), prefix.to_owned()));
        for (url, parsed) in [
            ("s3://forge", own("forge", "")),
            ("s3://forge/", own("forge", "")),
            ("s3://forge/a/b/", own("forge", "a/b")),
            ("s3://", None),
            ("s3:///a", None),
            ("s3://forge/../other", None),
            ("s3://forge/a//b", None),
            ("https://forge", None),
        ] {
            assert_eq!(Bucket::parse_url(url), parsed, "{url}");
        }
    }
}
