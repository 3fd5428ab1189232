//! Folders of a job's files: one for each project and slot, used by one job at a time.

use std::{
    fs::{self, File, TryLockError},
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

use super::variables::Variables;
use crate::{
    api::payload::Payload,
    config::{ExecutorKind, Runner},
    files::{
        archive::{LARGEST_UNPACKED, Target},
        paths::{relative, remove_all},
    },
};

/// Where containers have projects.
const CONTAINER_BUILDS: &str = "/builds";
const MOST_SLOTS: usize = 10_000;

/// Folders of a job. Nobody else uses them while this lives.
pub(crate) struct Layout {
    /// The project's files on this machine.
    pub(crate) project: PathBuf,
    /// Scripts and files of variables on this machine.
    pub(crate) temp: PathBuf,
    /// The same as the job's commands see them.
    pub(crate) seen_builds: PathBuf,
    pub(crate) seen_project: PathBuf,
    pub(crate) seen_temp: PathBuf,
    /// Number of the folder, from 0.
    pub(crate) slot: usize,
    /// Whether the job runs in a container, maybe as another user.
    pub(crate) is_contained: bool,
    _lock: File,
}

impl Layout {
    /// Takes the first folder of the project that no other job has.
    pub(crate) fn claim(runner: &Runner, payload: &Payload) -> Result<Self> {
        let path = project_path(payload);
        let name = relative(runner.short_token()).context("a token that is no file name")?;
        let builds = runner.builds_folder();
        fs::create_dir_all(builds)
            .with_context(|| format!("cannot make the folder {}", builds.display()))?;
        // Files of projects are for nobody else on this machine.
        fs::set_permissions(builds, fs::Permissions::from_mode(0o700))?;
        for slot in 0..MOST_SLOTS {
            let root = builds.join(&name).join(slot.to_string());
            let project = root.join(&path);
            if let Some(parent) = project.parent() {
                fs::create_dir_all(parent)?;
            }
            let file = beside(&project, "lock");
            let lock = fs::OpenOptions::new().create(true).append(true).open(&file)?;
            match lock.try_lock() {
                Ok(()) => return Ok(Self::new(runner.executor, &root, project, &path, slot, lock)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        bail!("all {MOST_SLOTS} folders of the project are in use")
    }

    fn new(
        kind: ExecutorKind,
        root: &Path,
        project: PathBuf,
        path: &Path,
        slot: usize,
        lock: File,
    ) -> Self {
        let temp = beside(&project, "tmp");
        let is_contained = kind != ExecutorKind::Shell;
        let seen_builds =
            if is_contained { PathBuf::from(CONTAINER_BUILDS) } else { root.to_owned() };
        let seen_project = seen_builds.join(path);
        let seen_temp = beside(&seen_project, "tmp");
        Self {
            project,
            temp,
            seen_builds,
            seen_project,
            seen_temp,
            slot,
            is_contained,
            _lock: lock,
        }
    }

    pub(crate) fn umask(&self) -> &'static str {
        // Commands in a container may run as anybody; the folder above is closed to other people of this machine.
        if self.is_contained { "0000" } else { "0022" }
    }

    /// Where archives are unpacked.
    pub(crate) fn target(&self) -> Target<'_> {
        let folder_mode = if self.is_contained { 0o777 } else { 0o755 };
        Target { root: &self.project, folder_mode, largest: LARGEST_UNPACKED }
    }

    /// Makes the project's folder where there is none.
    pub(crate) fn make_project(&self) -> Result<()> {
        fs::create_dir_all(&self.project)?;
        let mode = if self.is_contained { 0o777 } else { 0o755 };
        fs::set_permissions(&self.project, fs::Permissions::from_mode(mode))?;
        Ok(())
    }

    pub(crate) fn remove_project(&self) -> Result<()> {
        remove_all(&self.project).with_context(|| {
            format!(
                "cannot remove {}; files that a container made as another user must be removed by hand",
                self.project.display()
            )
        })
    }

    /// Writes a script and the files of variables into a new folder. The old one may be full of traps that an earlier
    /// step has laid, such as links.
    pub(crate) fn stage(&self, script: &str, variables: &Variables) -> Result<()> {
        self.remove_temp()?;
        fs::create_dir(&self.temp)?;
        let mode = if self.is_contained { 0o755 } else { 0o700 };
        fs::set_permissions(&self.temp, fs::Permissions::from_mode(mode))?;
        for (name, content) in variables.files() {
            self.write(name, content)?;
        }
        self.write(SCRIPT, script)
    }

    fn write(&self, name: &str, content: &str) -> Result<()> {
        let mode = if self.is_contained { 0o644 } else { 0o600 };
        let path = self.temp.join(name);
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        file.write_all(content.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        Ok(())
    }

    pub(crate) fn remove_temp(&self) -> Result<()> {
        remove_all(&self.temp).with_context(|| format!("cannot remove {}", self.temp.display()))
    }

    /// The script, as the job's commands see it.
    pub(crate) fn seen_script(&self) -> PathBuf {
        self.seen_temp.join(SCRIPT)
    }
}

/// No variable has this name.
const SCRIPT: &str = "script.sh";

/// `a/b` with an ending: `a/b.tmp`. No project's path ends so.
fn beside(project: &Path, ending: &str) -> PathBuf {
    let mut name = project.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    PathBuf::from(name)
}

/// The project's path, as far as it is one that can be trusted; else its number.
fn project_path(payload: &Payload) -> PathBuf {
    let info = &payload.job_info;
    let told = Some(info.project_full_path.as_str()).filter(|path| !path.is_empty());
    let told = told.or_else(|| {
        let variable =
            payload.variables.iter().find(|variable| variable.key == "CI_PROJECT_PATH")?;
        Some(variable.value.as_str())
    });
    let plain = |path: &&str| {
        path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
            && !path
                .split('/')
                .any(|name| name.is_empty() || name.ends_with(".tmp") || name.ends_with(".lock"))
    };
    told.filter(plain)
        .and_then(relative)
        .unwrap_or_else(|| PathBuf::from(format!("project-{}", info.project_id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn runner(folder: &Path) -> Runner {
        let text = format!(
            "[[runners]]\nname='a'\nurl='http://h'\ntoken='glrt-abcdefghijk'\nexecutor='shell'\nbuilds_dir={:?}\n",
            folder.join("builds")
        );
        std::fs::write(folder.join("c.toml"), text).unwrap();
        Config::load(&folder.join("c.toml")).unwrap().runners.remove(0)
    }

    fn payload(path: &str) -> Payload {
        let mut payload = Payload::default();
        path.clone_into(&mut payload.job_info.project_full_path);
        payload.job_info.project_id = 7;
        payload
    }

    #[test]
    fn two_jobs_of_a_project_have_folders_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let runner = runner(folder.path());
        let first = Layout::claim(&runner, &payload("g/p")).unwrap();
        let second = Layout::claim(&runner, &payload("g/p")).unwrap();
        assert_eq!((first.slot, second.slot), (0, 1));
        assert!(first.project.ends_with("abcdefghi/0/g/p"), "{}", first.project.display());
        drop(first);
        assert_eq!(Layout::claim(&runner, &payload("g/p")).unwrap().slot, 0);
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_not_used() {
        for path in ["../../x", "/etc", "a/../b", "a.tmp/b", "a b", "a:b", ""] {
            assert_eq!(project_path(&payload(path)), Path::new("project-7"), "{path}");
        }
    }

    #[test]
    fn staged_files_replace_what_a_step_has_left() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::claim(&runner(folder.path()), &payload("g/p")).unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "good").unwrap();
        layout.stage("one", &Variables::default()).unwrap();
        std::fs::remove_file(layout.temp.join(SCRIPT)).unwrap();
        std::os::unix::fs::symlink(&victim, layout.temp.join(SCRIPT)).unwrap();
        layout.stage("two", &Variables::default()).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "good");
        assert_eq!(std::fs::read_to_string(layout.temp.join(SCRIPT)).unwrap(), "two");
    }
}
