//! The arguments of `docker` and `podman`. No shell reads them, and a value never stands where an option could.

use std::path::Path;

use super::engine::Dialect;
use crate::{api::payload::Image, config::ContainerConfig};

/// Runs the script in bash where the image has one.
const START: &str = "for s in /usr/local/bin/bash /usr/bin/bash /bin/bash; do [ -x \"$s\" ] && exec \"$s\" \"$0\"; done; exec sh \"$0\"";

/// Options that all containers of a job share.
pub(super) struct Common<'c> {
    pub(super) dialect: Dialect,
    pub(super) config: &'c ContainerConfig,
    pub(super) job: u64,
    /// What marks everything that the runner makes.
    pub(super) mark: &'c str,
    /// Network that connects services; none without services.
    pub(super) network: Option<&'c str>,
    /// File with variables.
    pub(super) env_file: &'c Path,
}

const JOB_LABEL: &str = "com.forgeway.job";
const RUNNER_LABEL: &str = "com.forgeway.runner";

fn label(mark: &str) -> String {
    option("label", format_args!("{RUNNER_LABEL}={mark}"))
}

fn option(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

impl Common<'_> {
    fn options(&self, name: &str, image: &Image) -> Vec<String> {
        let mut all = vec![
            option("name", name),
            option("label", format_args!("{JOB_LABEL}={}", self.job)),
            label(self.mark),
            option("env-file", self.env_file.display()),
            // What an image is missing was fetched before, with the right password.
            option("pull", "never"),
        ];
        all.extend(self.network.map(|network| option("network", network)));
        let docker = &image.executor_opts.docker;
        all.extend(docker.platform.as_deref().map(|platform| option("platform", platform)));
        all.extend(docker.user.as_ref().and_then(|user| {
            let user =
                user.as_str().map(str::to_owned).or(user.as_i64().map(|id| id.to_string()))?;
            Some(option("user", user))
        }));
        if self.config.privileged {
            all.push("--privileged".to_owned());
        }
        all.extend(self.config.volumes.iter().map(|volume| option("volume", volume)));
        all.extend(self.config.arguments.iter().cloned());
        all
    }

    /// Makes the container of a step.
    pub(super) fn create_step(
        &self,
        name: &str,
        image: &Image,
        mounts: &[(&Path, &Path)],
        script: &Path,
    ) -> Vec<String> {
        let mut all = words(&["create"]);
        all.extend(self.options(name, image));
        all.extend(mounts.iter().map(|(source, target)| self.mount(source, target)));
        all.extend(mounts.first().map(|(_, project)| option("workdir", project.display())));
        let command = ["sh", "-c", START, &script.to_string_lossy()].map(str::to_owned);
        all.extend(image_and_command(image, command.into()));
        all
    }

    fn mount(&self, source: &Path, target: &Path) -> String {
        let (source, target) = (source.display(), target.display());
        match self.dialect {
            // Labels the files for the container where the system wants it.
            Dialect::Podman => option("volume", format_args!("{source}:{target}:Z")),
            _ => option("mount", format_args!("type=bind,source={source},target={target}")),
        }
    }

    /// Makes and starts the container of a service.
    pub(super) fn start_service(
        &self,
        name: &str,
        image: &Image,
        aliases: &[String],
    ) -> Vec<String> {
        let mut all = words(&["run", "--detach"]);
        all.extend(self.options(name, image));
        all.extend(aliases.iter().map(|alias| option("network-alias", alias)));
        all.extend(image_and_command(image, image.command.clone().unwrap_or_default()));
        all
    }

    /// Gives files that a container has made to somebody of this machine.
    pub(super) fn give_back(
        &self,
        name: &str,
        image: &Image,
        mounts: &[(&Path, &Path)],
        owner: &str,
    ) -> Vec<String> {
        let mut all = words(&[
            "run",
            "--rm",
            "--pull=never",
            "--network=none",
            "--user=0:0",
            "--entrypoint=chown",
        ]);
        all.extend([option("name", name), label(self.mark)]);
        all.extend(mounts.iter().map(|(source, target)| self.mount(source, target)));
        all.push(image.name.clone());
        all.extend(words(&["-R", "-h", owner]));
        all.extend(mounts.iter().map(|(_, target)| target.display().to_string()));
        all
    }
}

/// The end of a command line. An entrypoint of several words goes on before the command.
fn image_and_command(image: &Image, command: Vec<String>) -> Vec<String> {
    let mut all = Vec::new();
    let (first, rest) = match image.entrypoint.as_deref() {
        Some([first, rest @ ..]) => (Some(first), rest),
        Some([]) | None => (None, &[][..]),
    };
    all.extend(first.map(|first| option("entrypoint", first)));
    all.push(image.name.clone());
    all.extend(rest.iter().cloned());
    all.extend(command);
    all
}

pub(super) fn inspect_image(name: &str) -> Vec<String> {
    words(&["image", "inspect", "--format={{.Id}}", name])
}

/// Fetches an image, with the passwords that lie in a folder.
pub(super) fn pull(dialect: Dialect, image: &Image, credentials: Option<&Path>) -> Vec<String> {
    let mut all = Vec::new();
    match (dialect, credentials) {
        (Dialect::Podman, Some(folder)) => {
            all.push("pull".to_owned());
            all.push(option("authfile", folder.join("config.json").display()));
        }
        (_, Some(folder)) => all.extend([option("config", folder.display()), "pull".to_owned()]),
        (_, None) => all.push("pull".to_owned()),
    }
    let platform = image.executor_opts.docker.platform.as_deref();
    all.extend(platform.map(|platform| option("platform", platform)));
    all.extend(words(&["--quiet", &image.name]));
    all
}

pub(super) fn create_network(name: &str, mark: &str) -> Vec<String> {
    words(&["network", "create", &label(mark), name])
}

/// Lists the numbers of all containers of a runner.
pub(super) fn marked_containers(mark: &str) -> Vec<String> {
    words(&["ps", "--all", "--quiet", &filter(mark)])
}

/// Lists the numbers of all networks of a runner.
pub(super) fn marked_networks(mark: &str) -> Vec<String> {
    words(&["network", "ls", "--quiet", &filter(mark)])
}

fn filter(mark: &str) -> String {
    option("filter", format_args!("label={RUNNER_LABEL}={mark}"))
}

pub(super) fn remove_network(name: &str) -> Vec<String> {
    words(&["network", "rm", name])
}

pub(super) fn start(name: &str) -> Vec<String> {
    words(&["start", "--attach", name])
}

pub(super) fn is_running(name: &str) -> Vec<String> {
    words(&["inspect", "--format={{.State.Running}}", name])
}

pub(super) fn logs(name: &str) -> Vec<String> {
    words(&["logs", "--tail=20", name])
}

pub(super) fn remove(names: &[String]) -> Vec<String> {
    let mut all = words(&["rm", "--force", "--volumes"]);
    all.extend(names.iter().cloned());
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn common<'c>(dialect: Dialect, config: &'c ContainerConfig) -> Common<'c> {
        let (network, env_file) = (Some("net"), Path::new("/t/env"));
        Common { dialect, config, job: 7, mark: "r_1/abc", network, env_file }
    }

    fn image(value: serde_json::Value) -> Image {
        serde_json::from_value(value).unwrap()
    }

    fn mounts() -> [(&'static Path, &'static Path); 1] {
        [(Path::new("/b/0/g/p"), Path::new("/builds/g/p"))]
    }

    #[test]
    fn a_step_gets_its_folder_its_variables_and_its_script() {
        let config = ContainerConfig::default();
        let image = image(json!({ "name": "rust:1" }));
        let script = Path::new("/builds/g/p.tmp/script.sh");
        let all = common(Dialect::Docker, &config).create_step("n", &image, &mounts(), script);
        let expected = [
            "create",
            "--name=n",
            "--label=com.forgeway.job=7",
            "--label=com.forgeway.runner=r_1/abc",
            "--env-file=/t/env",
            "--pull=never",
            "--network=net",
            "--mount=type=bind,source=/b/0/g/p,target=/builds/g/p",
            "--workdir=/builds/g/p",
            "rust:1",
            "sh",
            "-c",
            START,
            "/builds/g/p.tmp/script.sh",
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn podman_labels_the_folder() {
        let config = ContainerConfig::default();
        let image = image(json!({ "name": "i" }));
        let podman = common(Dialect::Podman, &config);
        let all = podman.create_step("n", &image, &mounts(), Path::new("/s"));
        assert!(all.contains(&"--volume=/b/0/g/p:/builds/g/p:Z".to_owned()), "{all:?}");
    }

    #[test]
    fn what_a_job_names_cannot_become_an_option() {
        let config = ContainerConfig::default();
        let evil = image(json!({
            "name": "i", "entrypoint": ["--privileged", "--x"],
            "executor_opts": { "docker": { "user": "--privileged", "platform": "--privileged" } },
        }));
        let all = common(Dialect::Docker, &config).start_service("n", &evil, &["db".to_owned()]);
        assert!(!all.contains(&"--privileged".to_owned()), "{all:?}");
        let image = all.iter().position(|word| word == "i").unwrap();
        assert_eq!(all[image..], ["i", "--x"]);
        assert!(all.contains(&"--entrypoint=--privileged".to_owned()));
    }

    #[test]
    fn privileges_volumes_and_limits_come_from_the_configuration() {
        let config = ContainerConfig {
            privileged: true,
            volumes: vec!["/certs:/certs:ro".to_owned()],
            arguments: vec!["--memory=2g".to_owned()],
            ..ContainerConfig::default()
        };
        let image = image(json!({ "name": "i", "command": ["serve"] }));
        let all = common(Dialect::Docker, &config).start_service("n", &image, &[]);
        let tail = ["--privileged", "--volume=/certs:/certs:ro", "--memory=2g", "i", "serve"];
        assert_eq!(all[all.len() - 5..], tail);
    }

    #[test]
    fn passwords_of_registries_lie_in_a_file() {
        let image = image(json!({ "name": "i" }));
        let folder = Some(Path::new("/t/auth"));
        assert_eq!(
            pull(Dialect::Docker, &image, folder),
            ["--config=/t/auth", "pull", "--quiet", "i"]
        );
        assert_eq!(
            pull(Dialect::Podman, &image, folder),
            ["pull", "--authfile=/t/auth/config.json", "--quiet", "i"]
        );
    }

    #[test]
    fn files_are_given_back_without_following_links() {
        let config = ContainerConfig::default();
        let image = image(json!({ "name": "i" }));
        let all = common(Dialect::Docker, &config).give_back("n", &image, &mounts(), "1000:1000");
        assert_eq!(all[all.len() - 5..], ["i", "-R", "-h", "1000:1000", "/builds/g/p"]);
        assert!(all.contains(&"--network=none".to_owned()));
    }
}
