//! Commands run in containers that `docker` or `podman` makes. Each step has a container of its own, which is gone before
//! anything on this machine looks at the project's files again.

use std::{
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, bail};
use rustix::process::{getegid, geteuid};

use super::{
    arguments::{self, Common},
    engine::{Dialect, Engine},
    images::{aliases, credentials, ensure_name, policy},
    leftovers::mark,
};
use crate::{
    api::payload::Image,
    config::{ContainerConfig, PullPolicy},
    control::Interrupt,
    job::{Failure, Job},
    process::{self, End, Limits, Sink},
    trace::WARNING,
};

/// Containers and networks are made and removed within it.
const TIDY_TIME: Duration = Duration::from_secs(120);
/// The programs refuse longer lines in a file of variables.
const LONGEST_LINE: usize = 60_000;

pub(crate) struct Container {
    engine: Engine,
    config: ContainerConfig,
    /// Beginning of the names of everything that is made.
    prefix: String,
    mark: String,
    image: Image,
    services: Vec<String>,
    network: Option<String>,
    env_file: Option<tempfile::NamedTempFile>,
}

impl Container {
    pub(super) fn of(job: &Job) -> Result<Self> {
        let own = hex::encode(rand::random::<[u8; 4]>());
        Ok(Self {
            engine: Engine::of(&job.runner)?,
            config: job.runner.container.clone().unwrap_or_default(),
            prefix: format!("forgeway-job-{}-{own}", job.payload.id),
            mark: mark(&job.runner, &job.client.system_id),
            image: Image::default(),
            services: Vec::new(),
            network: None,
            env_file: None,
        })
    }

    pub(super) fn place(&self) -> String {
        format!("a {} container of {}", self.name(), self.image.name)
    }

    fn name(&self) -> &'static str {
        self.engine.dialect.name()
    }

    pub(super) fn prepare(&mut self, job: &Job) -> Result<(), Failure> {
        let mut image = job.payload.image.clone().unwrap_or_default();
        if image.name.is_empty() {
            image.name.clone_from(&self.config.image);
        }
        if image.name.is_empty() {
            let said = "the job names no `image`, and this runner has none of its own";
            return Err(Failure::Configuration(said.to_owned()));
        }
        self.image = named(job, image)?;
        let (engine, image) = (self.name(), &self.image.name);
        job.trace.line(&format!("Using {engine} executor with image {image} ..."));
        let image = self.image.clone();
        self.fetch(job, &image)?;
        self.env_file = Some(env_file(job.variables.iter())?);
        if !job.payload.services.is_empty() {
            let network = format!("{}-net", self.prefix);
            // It is removed even when making it was stopped in the middle.
            self.network = Some(network.clone());
            self.call(job, &arguments::create_network(&network, &self.mark), job.limits())?;
        }
        for service in &job.payload.services {
            self.start_service(job, &named(job, service.clone())?)?;
        }
        Ok(())
    }

    fn fetch(&self, job: &Job, image: &Image) -> Result<(), Failure> {
        let policy = policy(image, &self.config)?;
        if policy != PullPolicy::Always {
            let (end, _) = self.ask(job, &arguments::inspect_image(&image.name), job.limits())?;
            match end {
                End::Exited(0) => return Ok(()),
                End::Exited(_) if policy == PullPolicy::Never => {
                    let said =
                        format!("the image {} is not there, and may not be fetched", image.name);
                    return Err(Failure::ImagePull(said));
                }
                end => interrupted(end)?,
            }
        }
        job.trace.line(&format!("Pulling image {} ...", image.name));
        let folder = credentials(job)?;
        let pull = arguments::pull(
            self.engine.dialect,
            image,
            folder.as_ref().map(tempfile::TempDir::path),
        );
        let (end, said) = self.ask(job, &pull, job.limits())?;
        match end {
            End::Exited(0) => Ok(()),
            End::Exited(_) => {
                Err(Failure::ImagePull(format!("cannot pull {}: {}", image.name, said.trim())))
            }
            end => interrupted(end),
        }
    }

    fn start_service(&mut self, job: &Job, image: &Image) -> Result<(), Failure> {
        job.trace.line(&format!("Starting service {} ...", image.name));
        self.fetch(job, image)?;
        let own = image.variables.iter().map(|one| (one.key.as_str(), one.value.as_str()));
        let expanded: Vec<(String, String)> =
            own.map(|(key, value)| (key.to_owned(), job.variables.expand(value))).collect();
        let own = expanded.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let file = env_file(job.variables.iter().chain(own))?;
        let name = format!("{}-service-{}", self.prefix, self.services.len());
        let aliases = aliases(&image.name, &job.variables.expand(&image.alias));
        let start = self.common(job, file.path()).start_service(&name, image, &aliases);
        self.services.push(name.clone());
        self.call(job, &start, job.limits())?;
        let (_, running) = self.ask(job, &arguments::is_running(&name), job.limits())?;
        if running.trim() != "true" {
            let (_, log) = self.ask(job, &arguments::logs(&name), job.limits())?;
            job.trace.styled(WARNING, &format!("The service {} has ended:", image.name));
            job.trace.write(log.as_bytes());
        }
        Ok(())
    }

    fn common<'c>(&'c self, job: &Job, env_file: &'c Path) -> Common<'c> {
        Common {
            dialect: self.engine.dialect,
            config: &self.config,
            job: job.payload.id,
            mark: &self.mark,
            network: self.network.as_deref(),
            env_file,
        }
    }

    pub(super) fn run(&self, job: &Job, sink: Sink, limits: Limits) -> Result<End> {
        let name = format!("{}-step", self.prefix);
        let layout = &job.layout;
        let mounts: [(&Path, &Path); 2] =
            [(&layout.project, &layout.seen_project), (&layout.temp, &layout.seen_temp)];
        let Some(env_file) = &self.env_file else { bail!("the executor was not prepared") };
        let common = self.common(job, env_file.path());
        let create = common.create_step(&name, &self.image, &mounts, &layout.seen_script());
        let end = match self.ask(job, &create, limits)? {
            (End::Exited(0), _) => {
                let start = self.engine.command(&arguments::start(&name));
                process::run(start, sink, &job.control, limits)
            }
            (End::Exited(_), said) => Err(anyhow!("cannot make a container: {}", said.trim())),
            // It may have been made all the same.
            (end, _) => Ok(end),
        };
        self.tidy(job, &arguments::remove(std::slice::from_ref(&name)));
        if self.engine.dialect == Dialect::Docker && !geteuid().is_root() {
            let owner = format!("{}:{}", geteuid().as_raw(), getegid().as_raw());
            let give_back =
                common.give_back(&format!("{name}-owner"), &self.image, &mounts, &owner);
            // Images without `chown` are rare; their files are left to the administrator.
            self.tidy(job, &give_back);
        }
        end
    }

    pub(super) fn clean_up(&mut self, job: &Job) {
        if !self.services.is_empty() {
            self.tidy(job, &arguments::remove(&self.services));
        }
        if let Some(network) = self.network.take() {
            self.tidy(job, &arguments::remove_network(&network));
        }
        self.env_file = None;
    }

    fn ask(&self, job: &Job, arguments: &[String], limits: Limits) -> Result<(End, String)> {
        process::capture(self.engine.command(arguments), &job.control, limits)
    }

    fn call(&self, job: &Job, arguments: &[String], limits: Limits) -> Result<(), Failure> {
        let (end, said) = self.ask(job, arguments, limits)?;
        match end {
            End::Exited(0) => Ok(()),
            End::Exited(_) => {
                Err(Failure::System(anyhow!("{} failed: {}", self.name(), said.trim())))
            }
            end => interrupted(end),
        }
    }

    /// Removes something, whatever became of the job. Only the server's last word is too late for it, which cannot be told
    /// from others here, so a control of its own is used.
    fn tidy(&self, job: &Job, arguments: &[String]) {
        let limits =
            Limits { deadline: Instant::now().checked_add(TIDY_TIME), heeds: Interrupt::Aborted };
        let calm = std::sync::Arc::default();
        match process::capture(self.engine.command(arguments), &calm, limits) {
            Ok((End::Exited(0), _)) => {}
            Ok((_, said)) => tracing::warn!(
                job = job.payload.id,
                said = said.trim(),
                "a container was not tidied up"
            ),
            Err(error) => {
                tracing::warn!(job = job.payload.id, %error, "a container was not tidied up")
            }
        }
    }
}

fn interrupted(end: End) -> Result<(), Failure> {
    match end {
        End::Exited(_) => Ok(()),
        end => crate::job::checked(end),
    }
}

/// An image with variables in its name written out.
fn named(job: &Job, mut image: Image) -> Result<Image, Failure> {
    image.name = job.variables.expand(&image.name);
    ensure_name(&image.name)?;
    Ok(image)
}

/// A file of variables. Such files have no way of saying a line's end, so values of several lines are left out; scripts
/// get them all the same, from their first lines.
fn env_file<'v>(
    variables: impl Iterator<Item = (&'v str, &'v str)>,
) -> Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    for (key, value) in variables {
        // A line without a `=` would mean a variable of this machine.
        let is_name = key.chars().all(|sign| sign.is_ascii_alphanumeric() || "_.-".contains(sign));
        let is_line = !value.contains(['\n', '\r', '\0']) && value.len() < LONGEST_LINE;
        if is_name && is_line {
            writeln!(file, "{key}={value}")?;
        }
    }
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_makes_a_line_of_its_own_in_a_file_of_variables() {
        let all =
            [("A", "one"), ("B", "two\nPATH=/evil"), ("C", "it's \"three\""), ("D\nHOME", "x")];
        let file = env_file(all.into_iter()).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(text, "A=one\nC=it's \"three\"\n");
    }
}
