//! Brings the project's files to the commit of the job, with the installed git.
//!
//! The job's token stands in no argument and in no file: a credential helper reads it from the environment, for this
//! program's git as for the git of the job's own commands.

use std::collections::BTreeSet;

use anyhow::Context as _;

use super::{
    Failure, Job,
    git::{HELPER, git, origin, run, without_user},
};
use crate::{
    files::paths::{relative, remove_all},
    trace::{NOTICE, WARNING},
};

/// Files that a git which was killed leaves behind.
const LOCKS: &[&str] =
    &["index.lock", "shallow.lock", "HEAD.lock", "config.lock", "packed-refs.lock"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    Clone,
    Fetch,
    /// Whatever is there stays.
    None,
    /// A new folder without any commit.
    Empty,
}

/// Brings the files. Returns the paths that git tracks, where somebody wants to know.
pub(super) fn get(job: &Job) -> Result<BTreeSet<String>, Failure> {
    if job.variables.text("GIT_CLONE_PATH").is_some() {
        let said = "GIT_CLONE_PATH is not supported: the runner decides where projects lie";
        return Err(Failure::Configuration(said.to_owned()));
    }
    let strategy = strategy(job)?;
    match strategy {
        Strategy::None => job.trace.line("Skipping Git repository setup"),
        Strategy::Empty => {
            job.trace.line("Skipping Git repository setup and creating an empty build directory");
            job.layout.remove_project()?;
        }
        Strategy::Clone | Strategy::Fetch => attempts(job, strategy)?,
    }
    job.layout.make_project()?;
    tracked(job, strategy)
}

fn strategy(job: &Job) -> Result<Strategy, Failure> {
    let asked = job.variables.text("GIT_STRATEGY").unwrap_or(match job.payload.allow_git_fetch {
        true => "fetch",
        false => "clone",
    });
    Ok(match asked {
        // What a job leaves in `.git` could make git run programs on this machine, outside of its container.
        "fetch" if job.layout.is_contained => Strategy::Clone,
        "fetch" => Strategy::Fetch,
        "clone" => Strategy::Clone,
        "none" => Strategy::None,
        "empty" => Strategy::Empty,
        odd => return Err(Failure::Configuration(format!("unknown GIT_STRATEGY {odd:?}"))),
    })
}

fn attempts(job: &Job, mut strategy: Strategy) -> Result<(), Failure> {
    let most = job.variables.number("GET_SOURCES_ATTEMPTS").unwrap_or(1).clamp(1, 10);
    for attempt in 1.. {
        let had = strategy == Strategy::Fetch && job.layout.project.join(".git").exists();
        let failure = match once(job, strategy) {
            Err(failure @ (Failure::Script { .. } | Failure::System(_))) => failure,
            done => return done,
        };
        if had {
            // A repository that does not work any more is no reason to fail.
            job.trace.styled(WARNING, "Fetching failed; the repository is cloned anew");
            strategy = Strategy::Clone;
        } else if attempt >= most {
            return Err(match failure {
                Failure::Script { exit_code } => {
                    Failure::System(anyhow::anyhow!("git failed with exit code {exit_code}"))
                }
                failure => failure,
            });
        } else {
            job.control.pause(job.retry);
        }
    }
    Ok(())
}

fn once(job: &Job, strategy: Strategy) -> Result<(), Failure> {
    let (layout, info) = (&job.layout, &job.payload.git_info);
    if strategy == Strategy::Clone {
        layout.remove_project()?;
    }
    layout.make_project()?;
    let is_new = !layout.project.join(".git").exists();
    let word = if is_new { "Cloning repository" } else { "Fetching changes" };
    match info.depth {
        0 => job.trace.styled(NOTICE, &format!("{word}...")),
        depth => job.trace.styled(NOTICE, &format!("{word} with git depth set to {depth}...")),
    }
    for lock in LOCKS {
        remove_all(&layout.project.join(".git").join(lock))?;
    }
    run(job, &["init", "--quiet"])?;
    let url = without_user(&info.repo_url);
    run(job, &["config", "--replace-all", "remote.origin.url", &url])?;
    if let Some(origin) = origin(&url) {
        // The empty one makes git forget other helpers, which could keep the token.
        let name = format!("credential.{origin}.helper");
        run(job, &["config", "--replace-all", &name, ""])?;
        run(job, &["config", "--add", &name, HELPER])?;
    }
    fetch(job)?;
    if job.variables.get("GIT_CHECKOUT").is_some_and(|value| value.trim() == "false") {
        job.trace.styled(NOTICE, "Skipping Git checkout");
        return Ok(());
    }
    check_out(job)?;
    submodules(job)
}

fn fetch(job: &Job) -> Result<(), Failure> {
    let info = &job.payload.git_info;
    let depth = format!("--depth={}", info.depth);
    let mut arguments = vec!["fetch", "--quiet", "--prune", "--no-tags", "--force"];
    match info.depth {
        0 if job.layout.project.join(".git/shallow").exists() => arguments.push("--unshallow"),
        0 => {}
        _ => arguments.push(&depth),
    }
    arguments.extend(extra(job, "GIT_FETCH_EXTRA_FLAGS"));
    arguments.extend(["--end-of-options", "origin"]);
    if info.refspecs.iter().any(|spec| !is_refspec(spec)) {
        return Err(Failure::System(anyhow::anyhow!("the server sent an impossible refspec")));
    }
    arguments.extend(info.refspecs.iter().map(String::as_str));
    run(job, &arguments)
}

/// Only references are fetched by it, and no option hides in it.
fn is_refspec(spec: &str) -> bool {
    spec.trim_start_matches('+').split(':').all(|side| side.starts_with("refs/"))
}

/// Flags that a job gives to git. They could make it run other programs, so they count only where the job's commands
/// run on this machine anyway.
fn extra<'j>(job: &'j Job, name: &str) -> Vec<&'j str> {
    let Some(flags) = job.variables.text(name) else { return Vec::new() };
    if job.layout.is_contained {
        job.trace.styled(WARNING, &format!("{name} is ignored by executors with containers"));
        return Vec::new();
    }
    flags.split_whitespace().collect()
}

fn check_out(job: &Job) -> Result<(), Failure> {
    let info = &job.payload.git_info;
    if !info.sha.bytes().all(|byte| byte.is_ascii_hexdigit()) || info.sha.len() < 40 {
        return Err(Failure::System(anyhow::anyhow!("the server sent an impossible commit")));
    }
    let short = info.sha.get(..8).unwrap_or_default();
    let said = format!("Checking out {short} as detached HEAD (ref is {})...", info.reference);
    job.trace.styled(NOTICE, &said);
    run(job, &["checkout", "--force", "--quiet", "--detach", &info.sha])?;
    match clean_flags(job).as_deref() {
        None => Ok(()),
        Some(flags) => run(job, &[&["clean"], flags].concat()),
    }
}

/// `None` where nothing is to be cleaned.
fn clean_flags(job: &Job) -> Option<Vec<&str>> {
    let flags = job.variables.text("GIT_CLEAN_FLAGS").unwrap_or("-ffdx");
    (flags != "none").then(|| flags.split_whitespace().collect())
}

fn submodules(job: &Job) -> Result<(), Failure> {
    let recursive = match job.variables.text("GIT_SUBMODULE_STRATEGY") {
        None | Some("none") => return Ok(()),
        Some("normal") => false,
        Some("recursive") => true,
        Some(odd) => {
            return Err(Failure::Configuration(format!("unknown GIT_SUBMODULE_STRATEGY {odd:?}")));
        }
    };
    let said =
        if recursive { "Updating submodules recursively..." } else { "Updating submodules..." };
    job.trace.styled(NOTICE, said);
    let paths: Vec<&str> = job
        .variables
        .text("GIT_SUBMODULE_PATHS")
        .map(|paths| paths.split_whitespace().collect())
        .unwrap_or_default();
    let depth = job.variables.number("GIT_SUBMODULE_DEPTH").filter(|depth| *depth > 0);
    let depth = depth.map(|depth| format!("--depth={depth}"));
    let deep: &[&str] = if recursive { &["--recursive"] } else { &[] };
    run(job, &[&["submodule", "init", "--"], paths.as_slice()].concat())?;
    run(job, &[&["submodule", "sync"], deep, &["--"], &paths].concat())?;
    let mut update = [&["submodule", "update", "--init", "--force"], deep].concat();
    update.extend(depth.as_deref());
    update.extend(extra(job, "GIT_SUBMODULE_UPDATE_FLAGS"));
    update.push("--");
    update.extend(&paths);
    run(job, &update)?;
    if let Some(flags) = clean_flags(job) {
        run(
            job,
            &[&["submodule", "foreach", "--quiet"], deep, &["git", "clean", "--quiet"], &flags]
                .concat(),
        )?;
    }
    Ok(())
}

/// The paths that git tracks, before the job's commands can change what git believes.
fn tracked(job: &Job, strategy: Strategy) -> Result<BTreeSet<String>, Failure> {
    let payload = &job.payload;
    let is_wanted = payload.artifacts.iter().any(|artifact| artifact.untracked)
        || payload.cache.iter().any(|cache| cache.untracked);
    let is_trusted =
        matches!(strategy, Strategy::Clone | Strategy::Fetch) || !job.layout.is_contained;
    if !is_wanted || !is_trusted || !job.layout.project.join(".git").exists() {
        return Ok(BTreeSet::new());
    }
    let output = git(job, &["ls-files", "-z"]).stdin(std::process::Stdio::null()).output();
    let output = output.context("cannot run git")?;
    if !output.status.success() {
        return Err(Failure::System(anyhow::anyhow!("git cannot list its files")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split('\0').filter(|path| relative(path).is_some()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refspec_is_no_option() {
        assert!(is_refspec("+refs/heads/*:refs/remotes/origin/*"));
        assert!(!is_refspec("--upload-pack=evil") && !is_refspec("+refs/x:--evil"));
    }
}
