//! Every setting, its default and its documentation. Only this module reads the environment.
//!
//! A flag wins over `FORGEWAY_…`, which wins over the file, which wins over the default.

mod built_in_runner_scope;
mod defaults;
mod environment;
mod settings_table;
mod toml_file;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use db::Location;
use environment::{Environment, unknown_variables};
use figment::{
    Figment,
    providers::{Format as _, Serialized},
};
use forge::{Bucket, ContentStorage, Relays, geo::GeoSettings, mail::smtp::MailServer, urls::Urls};
use geo::Role;
use org::namespace::Networks;
use serde::{Deserialize, Serialize};
use signatures::TrustedRoots;
use toml_file::Toml;

use crate::{
    app::{Limits, Settings},
    proxies::Proxies,
};

pub use built_in_runner_scope::BuiltInRunnerScope;
pub use environment::search_path;
pub use settings_table::SETTINGS;

/// The commit that this was built from; of what was built outside of a checkout, or is being worked on, the version.
pub const REVISION: &str = env!("FORGEWAY_REVISION");

/// The configuration of the server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub listen: String,
    pub data: PathBuf,
    pub external_url: Option<String>,
    pub trusted_proxies: Option<String>,
    pub inner_networks: Option<String>,
    pub database_url: Option<String>,
    pub root_password: Option<String>,
    pub root_token: Option<String>,
    pub log: String,
    pub log_format: LogFormat,
    pub workers: usize,
    pub max_connections: usize,
    pub request_seconds: u64,
    pub body_limit: usize,
    pub upload_limit: u64,
    pub push_limit: u64,
    pub object_limit: u64,
    pub rate_limit_user: u32,
    pub rate_limit_address: u32,
    pub rate_limit_archive: u32,
    pub rate_limit_namespace: u32,
    pub rate_limit_person: u32,
    pub rate_limit_note: u32,
    pub rate_limit_issue: u32,
    pub rate_limit_alert: u32,
    pub rate_limit_invite: u32,
    pub mail_url: Option<String>,
    pub mail_from: Option<String>,
    pub certificate_roots: Option<PathBuf>,
    pub s3_url: Option<String>,
    pub s3_endpoint: Option<String>,
    pub s3_region: String,
    pub s3_access_key: Option<String>,
    pub s3_secret_key: Option<String>,
    pub with_runner: Option<String>,
    pub geo_node: Option<String>,
    pub geo_role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Human,
    Json,
}

/// Certificate authorities of the operating system.
const SYSTEM_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Command line flags; an absent one has no effect.
#[derive(Clone, Debug, Default, Serialize, clap::Args)]
pub struct Flags {
    /// Settings file (TOML) [default: forgeway.toml, when it is there]
    #[arg(long, value_name = "FILE", global = true)]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Address and port to serve on
    #[arg(long, value_name = "HOST:PORT", global = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<String>,
    /// Folder for everything that is kept
    #[arg(long, value_name = "FOLDER", global = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<PathBuf>,
    /// How the world reaches this server
    #[arg(long, value_name = "URL", global = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    external_url: Option<String>,
    /// Proxies whose X-Forwarded-For says where a request came from, joined by commas
    #[arg(long, value_name = "NETWORKS", global = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted_proxies: Option<String>,
    /// postgres://… instead of the embedded SQLite
    #[arg(long, value_name = "URL", global = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    database_url: Option<String>,
    /// What is logged
    #[arg(long, value_name = "FILTER", global = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
    /// Run jobs on this machine, as this user: those that administrators start, those of projects and groups (joined by
    /// commas), or `all`
    #[arg(
        long,
        value_name = "WHOSE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "administrators",
        global = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    with_runner: Option<String>,
}

/// The settings with where each came from.
pub struct LoadedConfig {
    pub config: Config,
    figment: Figment,
    /// Settings that the command line gave.
    flags: Vec<String>,
    /// Variables that look like settings and are none.
    unknown: Vec<String>,
}

/// Reads flags, environment and file.
///
/// # Errors
/// When the file cannot be read, or a setting is unknown or of the wrong kind; the text names it.
pub fn load(flags: &Flags) -> anyhow::Result<LoadedConfig> {
    let file = flags.config.clone().unwrap_or_else(|| PathBuf::from("forgeway.toml"));
    if let Some(wanted) = &flags.config {
        anyhow::ensure!(wanted.is_file(), "there is no settings file {}", wanted.display());
    }
    let mut figment = Figment::from(Serialized::defaults(Config::default()));
    if file.is_file() {
        figment = figment.merge(Toml::file_exact(file));
    }
    let figment = figment.merge(Environment::read()).merge(Serialized::defaults(flags));
    let config: Config = figment.extract().context("the settings cannot be used")?;
    config.check()?;
    let given = serde_json::to_value(flags)?;
    let flags = given.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    Ok(LoadedConfig { config, figment, flags, unknown: unknown_variables() })
}

impl Config {
    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.listen.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()),
            "listen must be HOST:PORT, as in 127.0.0.1:8080, and is {:?}",
            self.listen
        );
        anyhow::ensure!(
            self.max_connections > 0 && self.request_seconds > 0 && self.body_limit > 0,
            "max_connections, request_seconds and body_limit must be above 0"
        );
        if let Some(url) = &self.external_url {
            let known = url.starts_with("http://") || url.starts_with("https://");
            anyhow::ensure!(
                known,
                "external_url must begin with http:// or https://, and is {url:?}"
            );
        }
        if let Some(text) = &self.trusted_proxies {
            anyhow::ensure!(
                Proxies::parse(text).is_some(),
                "trusted_proxies must be addresses and networks, as in 127.0.0.1,10.0.0.0/8, and is {text:?}"
            );
        }
        if let Some(text) = &self.inner_networks {
            anyhow::ensure!(
                Networks::parse(text).is_some(),
                "inner_networks must be addresses and networks, as in 10.1.0.0/16,10.2.3.4, and is {text:?}"
            );
        }
        if let Some(text) = &self.with_runner {
            BuiltInRunnerScope::parse(text)?;
        }
        if let Some(server) = self.mail_server() {
            server.ensure_usable().map_err(anyhow::Error::msg)?;
        }
        self.contents()?;
        if let Some(url) = &self.database_url {
            let known = url.starts_with("postgres://") || url.starts_with("postgresql://");
            anyhow::ensure!(
                known,
                "database_url must begin with postgres://; leave it out for SQLite"
            );
        }
        anyhow::ensure!(
            self.geo_role == Role::Primary || self.database_url.is_some(),
            "geo_role = secondary needs database_url: the rows of a secondary come by PostgreSQL streaming replication"
        );
        anyhow::ensure!(
            self.geo_role == Role::Primary || self.with_runner.is_none(),
            "a secondary has no built-in runner: leave out with_runner, or geo_role"
        );
        Ok(())
    }

    pub fn external_url(&self) -> String {
        self.external_url.clone().unwrap_or_else(|| format!("http://{}", self.listen))
    }

    fn inner_networks(&self) -> Networks {
        self.inner_networks.as_deref().and_then(Networks::parse).unwrap_or_default()
    }

    fn proxies(&self) -> Proxies {
        self.trusted_proxies.as_deref().and_then(Proxies::parse).unwrap_or_default()
    }

    fn mail_server(&self) -> Option<MailServer> {
        let url = self.mail_url.clone()?;
        let from = self.mail_from.clone().unwrap_or_else(|| {
            let urls = Urls::new(&self.external_url());
            let host = urls.host().split(':').next().unwrap_or_default().to_owned();
            format!("forgeway@{host}")
        });
        Some(MailServer { url, from })
    }

    /// The bucket that is set, else the data folder.
    fn contents(&self) -> anyhow::Result<ContentStorage> {
        let Some(url) = &self.s3_url else {
            let unused = self.s3_endpoint.is_some() || self.s3_secret_key.is_some();
            anyhow::ensure!(!unused, "s3_endpoint and s3_secret_key need s3_url");
            return Ok(ContentStorage::DataFolder);
        };
        let (name, prefix) = Bucket::parse_url(url).with_context(|| {
            format!("s3_url must be s3://BUCKET or s3://BUCKET/PREFIX, and is {url:?}")
        })?;
        if let Some(endpoint) = &self.s3_endpoint {
            let known = endpoint.starts_with("http://") || endpoint.starts_with("https://");
            anyhow::ensure!(
                known,
                "s3_endpoint must begin with http:// or https://, and is {endpoint:?}"
            );
        }
        let key = |given: &Option<String>, name: &str| {
            given.clone().with_context(|| format!("s3_url needs {name}"))
        };
        Ok(ContentStorage::Bucket(Bucket {
            name,
            prefix,
            endpoint: self.s3_endpoint.as_ref().map(|it| it.trim_end_matches('/').to_owned()),
            region: self.s3_region.clone(),
            access_key: key(&self.s3_access_key, "s3_access_key")?,
            secret_key: key(&self.s3_secret_key, "s3_secret_key")?,
        }))
    }

    /// The authorities of the file that is set, else those of the system, where there are any.
    fn roots(&self) -> anyhow::Result<TrustedRoots> {
        let Some(path) = &self.certificate_roots else {
            return Ok(std::fs::read(SYSTEM_ROOTS).map_or_else(
                |_none| TrustedRoots::default(),
                |text| TrustedRoots::from_pem(&text),
            ));
        };
        let text = std::fs::read(path)
            .with_context(|| format!("the file of certificate_roots, {}", path.display()))?;
        let roots = TrustedRoots::from_pem(&text);
        anyhow::ensure!(!roots.is_empty(), "there is no certificate in {}", path.display());
        anyhow::ensure!(
            roots.malformed_lists(&text) == 0,
            "a revocation list in {} cannot be read (version 2 is needed)",
            path.display()
        );
        Ok(roots)
    }

    /// The data folder, absolute: git is started in other folders.
    pub fn data_folder(&self) -> anyhow::Result<PathBuf> {
        std::path::absolute(&self.data)
            .with_context(|| format!("the data folder {}", self.data.display()))
    }

    pub fn location(&self, data: &Path) -> Location {
        match &self.database_url {
            Some(url) => Location::Postgres(url.clone()),
            None => Location::File(data.join("forgeway.sqlite3")),
        }
    }

    pub fn settings(&self) -> anyhow::Result<Settings> {
        let data = self.data_folder()?;
        Ok(Settings {
            forge: forge::Settings {
                database: self.location(&data),
                data,
                external_url: self.external_url(),
                revision: REVISION.to_owned(),
                mail: self.mail_server(),
                roots: self.roots()?,
                inner_networks: self.inner_networks(),
                relays: Relays::default(),
                contents: self.contents()?,
                geo: GeoSettings { node: self.geo_node.clone(), role: self.geo_role },
            },
            proxies: self.proxies(),
            limits: Limits {
                body: self.body_limit,
                upload: self.upload_limit,
                push: self.push_limit,
                object: self.object_limit,
                patience: Duration::from_secs(self.request_seconds),
                user_per_minute: self.rate_limit_user,
                address_per_minute: self.rate_limit_address,
                archives_per_minute: self.rate_limit_archive,
                namespaces_per_minute: self.rate_limit_namespace,
                people_per_ten_minutes: self.rate_limit_person,
                notes_per_minute: self.rate_limit_note,
                issues_per_minute: self.rate_limit_issue,
                alerts_per_minute: self.rate_limit_alert,
                invites_per_day: self.rate_limit_invite,
            },
        })
    }
}

#[cfg(test)]
mod tests;
