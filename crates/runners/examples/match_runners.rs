//! Says which runner takes which job: `cargo run -p forgeway-runners --example match_runners`.
//!
//! The same rules decide in the product, so that tags can be tried out before a job waits in vain.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use db::{Tx, testing::TestDatabase};
use forgeway_runners::{
    matching::{JobMatcher, QueueProject},
    ports::Endless,
    runner::{Attributes, Owner, RunnerAccess, RunnerToken, register},
};
use kernel::{Result, ids::ProjectId};

fn main() -> Result<()> {
    let scratch = TestDatabase::new();
    let runners = scratch.db.write_blocking(register_runners)?;
    let builds = takers(&runners, &["docker"], false);
    let deploys = takers(&runners, &["docker", "production"], true);
    println!("build: {}", builds.join(", "));
    println!("deploy: {}", deploys.join(", "));
    assert_eq!(builds, ["shared"]);
    assert_eq!(deploys, ["guarded"]);
    Ok(())
}

/// The runners that take a job of a project in no group.
fn takers<'r>(runners: &'r [(String, JobMatcher)], tags: &[&str], protected: bool) -> Vec<&'r str> {
    let project = QueueProject {
        project: ProjectId(1),
        groups: Vec::new(),
        instance_runners: true,
        group_runners: true,
        runs_jobs: true,
    };
    let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
    let fits = |runner: &JobMatcher| runner.serves(&project) && runner.takes(&tags, protected);
    runners.iter().filter(|(_, runner)| fits(runner)).map(|(name, _)| name.as_str()).collect()
}

/// One runner for everything with Docker, and one for protected branches alone.
fn register_runners(tx: &mut Tx<'_>) -> Result<Vec<(String, JobMatcher)>> {
    let mut runners = Vec::new();
    for (name, tags, access) in [
        ("shared", vec!["docker"], RunnerAccess::NotProtected),
        ("guarded", vec!["docker", "production"], RunnerAccess::RefProtected),
    ] {
        let attributes = Attributes {
            description: Some(name.to_owned()),
            tags: Some(tags.into_iter().map(str::to_owned).collect()),
            access_level: Some(access),
            ..Attributes::default()
        };
        let token = RunnerToken::created();
        let runner = register::create(tx, Owner::Instance, None, attributes, &token, &Endless)?;
        runners.push((name.to_owned(), JobMatcher::new(&runner, Vec::new())?));
    }
    Ok(runners)
}
