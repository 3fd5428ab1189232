//! The configuration file (TOML): which runners there are, and how they do jobs.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// Bytes of a job's log beyond which nothing is kept, in KiB.
const OUTPUT_LIMIT: usize = 4096;

/// The whole file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How many jobs are done at once, over all runners.
    #[serde(default = "one")]
    pub concurrent: usize,
    /// Seconds between two requests for a job.
    #[serde(default = "three")]
    pub check_interval: u64,
    #[serde(default)]
    pub runners: Vec<Runner>,
}

impl Default for Config {
    fn default() -> Self {
        Self { concurrent: one(), check_interval: three(), runners: Vec::new() }
    }
}

fn one() -> usize {
    1
}

fn three() -> u64 {
    3
}

fn output_limit() -> usize {
    OUTPUT_LIMIT
}

/// A runner as a server knows it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runner {
    pub name: String,
    /// Where the server is reached, without `/api/v4`.
    pub url: String,
    #[serde(default)]
    pub id: u64,
    /// Where git reaches the server, when that is not the address that the server gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone_url: Option<String>,
    /// Authentication token of the runner.
    pub token: String,
    pub executor: ExecutorKind,
    /// How many jobs this runner does at once; 0 for as many as `concurrent` allows.
    #[serde(default)]
    pub limit: usize,
    /// Shell of the shell executor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// Folder of the projects' files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builds_dir: Option<PathBuf>,
    /// Folder of the caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_dir: Option<PathBuf>,
    /// Largest log of a job in KiB.
    #[serde(default = "output_limit")]
    pub output_limit: usize,
    /// Variables that every job gets, `NAME=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// PEM file of the certificate authorities that the server's certificate may come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_ca_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<ContainerConfig>,
}

/// Shows no token.
impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("name", &self.name).field("url", &self.url).finish()
    }
}

impl Runner {
    /// A runner whose jobs' commands run on this machine; what is not said is as in a file that does not say it.
    pub fn shell(name: &str, url: &str, token: &str) -> Self {
        Self {
            name: name.to_owned(),
            url: url.trim_end_matches('/').to_owned(),
            id: 0,
            clone_url: None,
            token: token.to_owned(),
            executor: ExecutorKind::Shell,
            limit: 0,
            shell: None,
            builds_dir: None,
            cache_dir: None,
            output_limit: OUTPUT_LIMIT,
            environment: Vec::new(),
            tls_ca_file: None,
            container: None,
        }
    }

    /// The beginning of the token, which people may see.
    pub fn short_token(&self) -> &str {
        let secret = self.token.rsplit_once("glrt-").map_or(self.token.as_str(), |(_, rest)| rest);
        secret.get(..9).unwrap_or(secret)
    }

    pub(crate) fn builds_folder(&self) -> &Path {
        self.builds_dir.as_deref().unwrap_or(Path::new("forgeway-runner/builds"))
    }

    pub(crate) fn cache_folder(&self) -> &Path {
        self.cache_dir.as_deref().unwrap_or(Path::new("forgeway-runner/cache"))
    }
}

/// The executor of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ExecutorKind {
    /// Commands run as the user who runs this program
    Shell,
    /// Commands run in containers of Docker
    Docker,
    /// Commands run in containers of Podman
    Podman,
    /// Commands run in containers of Podman or Docker, whichever is there
    Container,
}

impl ExecutorKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Container => "container",
        }
    }
}

/// The container options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerConfig {
    /// Program that makes containers, when it is not called as its executor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Image of jobs that name none.
    #[serde(default)]
    pub image: String,
    #[serde(default)]
    pub pull_policy: PullPolicy,
    /// Policies that jobs may ask for; without any, that of `pull_policy` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_pull_policies: Vec<PullPolicy>,
    /// Whether containers may do what the machine's administrator may.
    #[serde(default)]
    pub privileged: bool,
    /// Further volumes, as `--volume` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<String>,
    /// Further arguments of each container, such as `--memory=2g`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
}

/// The policy by which images are pulled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PullPolicy {
    Always,
    #[default]
    IfNotPresent,
    Never,
}

impl PullPolicy {
    pub(crate) fn find(word: &str) -> Option<Self> {
        Some(match word {
            "always" => Self::Always,
            "if-not-present" => Self::IfNotPresent,
            "never" => Self::Never,
            _ => return None,
        })
    }
}

/// The folder of a file; of a bare name the current one.
fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

impl Config {
    /// Reads a configuration file. Folders that it does not name lie beside it.
    ///
    /// # Errors
    /// When the file cannot be read or says something impossible.
    pub fn load(file: &Path) -> Result<Self> {
        let mut config = Self::read(file)?;
        let beside = std::path::absolute(folder_of(file))?;
        for runner in &mut config.runners {
            runner.builds_dir = Some(beside.join(runner.builds_folder()));
            runner.cache_dir = Some(beside.join(runner.cache_folder()));
            if let Some(ca) = &mut runner.tls_ca_file {
                *ca = beside.join(&*ca);
            }
        }
        Ok(config)
    }

    /// Reads a configuration file as it stands.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| {
            format!("cannot read {}; `forgeway runner register` makes it", file.display())
        })?;
        let config = Self::parse(&text).with_context(|| format!("{} is wrong", file.display()))?;
        Ok(config)
    }

    fn parse(text: &str) -> Result<Self> {
        let config: Self = toml::from_str(text)?;
        ensure!(config.concurrent > 0, "`concurrent` must be at least 1");
        for runner in &config.runners {
            runner.ensure_sound().with_context(|| format!("runner {:?}", runner.name))?;
        }
        Ok(config)
    }

    /// Writes the file for this account alone, all of it or nothing.
    pub(crate) fn save(&self, file: &Path) -> Result<()> {
        let folder = folder_of(file);
        let text = toml::to_string(self)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)
            .with_context(|| format!("cannot write in {}", folder.display()))?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(file).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(())
    }

    pub(crate) fn interval(&self) -> Duration {
        Duration::from_secs(self.check_interval.max(1))
    }
}

impl Runner {
    fn ensure_sound(&self) -> Result<()> {
        ensure!(!self.token.is_empty(), "`token` is empty");
        let is_web = |url: &str| url.starts_with("http://") || url.starts_with("https://");
        ensure!(is_web(&self.url), "`url` must begin with http:// or https://");
        let clone_url = self.clone_url.as_deref();
        ensure!(clone_url.is_none_or(is_web), "`clone_url` must begin with http:// or https://");
        for folder in [&self.builds_dir, &self.cache_dir].into_iter().flatten() {
            let text = folder.to_str().unwrap_or(",");
            // Both separate the parts of what container programs are told to mount.
            ensure!(!text.contains([',', ':', '"']), "{text:?} holds a comma, colon or quote");
        }
        if let Some(line) = self.environment.iter().find(|line| !line.contains('=')) {
            bail!("{line:?} in `environment` is not NAME=value");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str =
        "[[runners]]\nname = \"a\"\nurl = \"http://h\"\ntoken = \"t\"\nexecutor = \"shell\"\n";

    #[test]
    fn what_is_left_out_has_a_default() {
        let config = Config::parse(SMALL).unwrap();
        assert_eq!((config.concurrent, config.check_interval), (1, 3));
        assert_eq!(config.runners[0].output_limit, 4096);
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        assert!(Config::parse("concurent = 2").is_err());
        assert!(Config::parse("concurrent = 0").is_err());
        assert!(Config::parse(&SMALL.replace("http://h", "ftp://h")).is_err());
    }

    #[test]
    fn a_file_is_written_as_it_is_read_and_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runner.toml");
        let mut config = Config::parse(SMALL).unwrap();
        config.runners[0].container = Some(ContainerConfig::default());
        config.save(&file).unwrap();
        let back = Config::read(&file).unwrap();
        assert_eq!(back.runners[0].container, config.runners[0].container);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }

    #[test]
    fn folders_lie_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runner.toml");
        std::fs::write(&file, SMALL).unwrap();
        let config = Config::load(&file).unwrap();
        assert!(config.runners[0].builds_folder().starts_with(folder.path()));
    }

    #[test]
    fn a_bare_name_is_in_the_current_folder() {
        assert_eq!(folder_of(Path::new("runner.toml")), Path::new("."));
        assert_eq!(folder_of(Path::new("/etc/runner.toml")), Path::new("/etc"));
    }

    #[test]
    fn a_runner_shows_no_token() {
        let mut runner = Config::parse(SMALL).unwrap().runners.remove(0);
        runner.token = "glrt-abcdefghijklmnop".to_owned();
        assert!(!format!("{runner:?}").contains("abcdef"));
        assert_eq!(runner.short_token(), "abcdefghi");
    }
}
