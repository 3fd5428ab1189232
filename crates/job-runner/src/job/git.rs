//! git as this program runs it: with its own settings, and with the job's token in its environment alone.

use std::{process::Command, sync::Arc};

use super::{Failure, Job, checked};
use crate::{
    api::{is_local, payload::Payload},
    process,
    trace::Trace,
};

/// Answers git's questions with the token of the job.
pub(super) const HELPER: &str = "!f() { test \"$1\" = get && echo username=gitlab-ci-token && echo \"password=$CI_JOB_TOKEN\"; }; f";
/// Settings of every git that this program runs. Hooks and monitors would be programs of the project.
const SETTINGS: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("advice.detachedHead", "false"),
    ("init.defaultBranch", "none"),
    ("fetch.recurseSubmodules", "false"),
    ("submodule.recurse", "false"),
    ("credential.interactive", "false"),
];
/// Variables of a job that reach git where its commands run in a container: they can start no program here.
const HARMLESS: &[&str] = &["GIT_SSL_NO_VERIFY", "GIT_LFS_SKIP_SMUDGE"];
/// The kernel takes no longer text for a variable of a process.
const LONGEST_VALUE: usize = 100 << 10;

/// The password in an address.
pub(super) fn password(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
    Some(user.split_once(':')?.1).filter(|password| !password.is_empty())
}

/// An address without what is before the `@`.
pub(super) fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host = rest.split('/').next().unwrap_or_default();
    match host.rsplit_once('@') {
        Some((user, _)) => format!("{scheme}://{}", &rest[user.len() + 1..]),
        None => url.to_owned(),
    }
}

/// The project of a job at another address of its server, with the credentials of the address that it gave.
pub(super) fn elsewhere(payload: &Payload, server: &str) -> Option<String> {
    let (scheme, host) = server.trim_end_matches('/').split_once("://")?;
    let told = Some(payload.job_info.project_full_path.as_str()).filter(|path| !path.is_empty());
    let variable = || payload.variables.iter().find(|variable| variable.key == "CI_PROJECT_PATH");
    let path = told.or_else(|| Some(variable()?.value.as_str()))?;
    let password = password(&payload.git_info.repo_url).unwrap_or(&payload.token);
    Some(format!("{scheme}://gitlab-ci-token:{password}@{host}/{path}.git"))
}

/// Scheme and host: for what the helper answers.
pub(super) fn origin(url: &str) -> Option<String> {
    let url = without_user(url);
    let (scheme, rest) = url.split_once("://")?;
    matches!(scheme, "http" | "https")
        .then(|| format!("{scheme}://{}", rest.split('/').next().unwrap_or_default()))
}

/// git in the project's folder. A shell in between sets the mask of new files; what is run stands in its arguments.
pub(super) fn git(job: &Job, arguments: &[&str]) -> Command {
    let mut command = process::command("sh");
    if !job.layout.is_contained {
        let short = job.variables.iter().filter(|(_, value)| value.len() < LONGEST_VALUE);
        command.envs(short.filter(|(_, value)| !value.contains('\0')));
    }
    for name in HARMLESS {
        command.envs(job.variables.text(name).map(|value| (*name, value)));
    }
    let script = format!("umask {}; exec git \"$@\"", job.layout.umask());
    command.args(["-c", &script, "git"]).args(arguments).current_dir(&job.layout.project);
    let url = &job.payload.git_info.repo_url;
    command.env("CI_JOB_TOKEN", password(url).unwrap_or(&job.payload.token));
    command.env("GIT_TERMINAL_PROMPT", "0");
    let mut settings: Vec<(String, &str)> =
        SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    for helper in ["", HELPER] {
        settings.extend(origin(url).map(|origin| (format!("credential.{origin}.helper"), helper)));
    }
    let local = origin(url).filter(|_| is_local(url));
    settings.extend(local.map(|origin| (format!("http.{origin}.proxy"), "")));
    for (place, (name, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{place}"), name);
        command.env(format!("GIT_CONFIG_VALUE_{place}"), value);
    }
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    command
}

pub(super) fn run(job: &Job, arguments: &[&str]) -> Result<(), Failure> {
    let sink = sink(&job.trace);
    checked(process::run(git(job, arguments), sink, &job.control, job.limits())?)
}

pub(super) fn sink(trace: &Arc<Trace>) -> process::Sink {
    let trace = Arc::clone(trace);
    Box::new(move |bytes| trace.write(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_taken_out_of_an_address() {
        let url = "https://gitlab-ci-token:se@cret@forge.example:8443/g/p.git";
        assert_eq!(without_user(url), "https://forge.example:8443/g/p.git");
        assert_eq!(password(url), Some("se@cret"));
        assert_eq!(origin(url).as_deref(), Some("https://forge.example:8443"));
        assert_eq!(without_user("https://h/a@b.git"), "https://h/a@b.git");
        assert_eq!((password("https://h/a:b@c"), origin("file:///x")), (None, None));
    }

    #[test]
    fn a_project_is_fetched_from_where_the_configuration_says() {
        let mut payload = Payload::default();
        payload.git_info.repo_url = "https://gitlab-ci-token:t0k@forge.example/g/p.git".to_owned();
        payload.job_info.project_full_path = "g/p".to_owned();
        assert_eq!(
            elsewhere(&payload, "http://127.0.0.1:8080/").as_deref(),
            Some("http://gitlab-ci-token:t0k@127.0.0.1:8080/g/p.git")
        );
    }

    #[test]
    fn the_helper_answers_with_the_token_of_the_environment() {
        let mut command = process::command("sh");
        let script = format!("{} get", HELPER.trim_start_matches('!'));
        let done = command.args(["-c", &script]).env("CI_JOB_TOKEN", "t0k").output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        assert_eq!(text, "username=gitlab-ci-token\npassword=t0k\n");
    }
}
