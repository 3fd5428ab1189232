//! Judges a file: `cargo run -p forgeway-ci --example lint -- .gitlab-ci.yml [branch]`.
//!
//! Prints the jobs of a push to the branch (`main` when left out), or what is wrong. Files to include are looked for beside
//! the file; nothing is fetched from elsewhere.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use forgeway_ci::config::{
    Plan, PlannedJob, Refusal, compile,
    input::{PipelineInput, Tree},
    variables::{OuterVariables, Variable},
};
use kernel::{Error, Result};

fn main() -> std::result::Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("the file to judge is missing")?);
    let branch = arguments.next().unwrap_or_else(|| "main".to_owned());
    let text = fs::read_to_string(&file)?;
    let folder = Folder(file.parent().map(Path::to_owned).unwrap_or_default());
    let beneath = vec![
        Variable::public("CI", "true"),
        Variable::public("CI_COMMIT_BRANCH", &*branch),
        Variable::public("CI_COMMIT_REF_NAME", &*branch),
        Variable::public("CI_DEFAULT_BRANCH", "main"),
        Variable::public("CI_PIPELINE_SOURCE", "push"),
    ];
    let known = OuterVariables { beneath, above: Vec::new() };
    let given =
        PipelineInput { tree: &folder, ..PipelineInput::push(&branch, "local/project", &known) };
    Ok(match compile(&text, &given) {
        Ok(plan) => {
            show(&plan);
            ExitCode::SUCCESS
        }
        Err(refusal) => {
            for problem in problems(refusal) {
                println!("{problem}");
            }
            ExitCode::FAILURE
        }
    })
}

fn show(plan: &Plan) {
    for warning in &plan.warnings {
        println!("warning: {warning}");
    }
    for (place, stage) in plan.stages.iter().enumerate() {
        println!("{stage}");
        for job in plan.jobs.iter().filter(|job| job.stage == place) {
            println!("  {}{}", job.name, details(job));
        }
    }
}

/// When it begins, and what it waits for.
fn details(job: &PlannedJob) -> String {
    let needs = job.needs.as_ref().map(|needs| {
        let names: Vec<&str> = needs.iter().map(|need| need.name.as_str()).collect();
        format!(", needs [{}]", names.join(", "))
    });
    let harmless = if job.allow_failure { ", may fail" } else { "" };
    format!(" ({}{}{harmless})", job.when, needs.unwrap_or_default())
}

fn problems(refusal: Refusal) -> Vec<String> {
    match refusal {
        Refusal::Invalid(problems) | Refusal::Unmet(problems) => problems,
        other => vec![other.sentence()],
    }
}

/// A folder, as if it were a commit.
struct Folder(PathBuf);

impl Folder {
    /// All files below a folder, with their paths from the top.
    fn walk(&self, below: &str, into: &mut Vec<String>) -> Result<()> {
        for entry in fs::read_dir(self.0.join(below)).map_err(Error::internal)? {
            let entry = entry.map_err(Error::internal)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            let kind = entry.file_type().map_err(Error::internal)?;
            if kind.is_dir() && name != ".git" {
                self.walk(&path, into)?;
            } else if kind.is_file() {
                into.push(path);
            }
        }
        Ok(())
    }
}

impl Tree for Folder {
    fn project(&self) -> &str {
        "local/project"
    }

    fn sha(&self) -> &str {
        "0000000000000000000000000000000000000000"
    }

    fn text(&self, path: &str) -> Result<Option<String>> {
        let leaves = path.split('/').any(|part| part == "..");
        Ok(if leaves { None } else { fs::read_to_string(self.0.join(path)).ok() })
    }

    fn fingerprint(&self, path: &str) -> Result<Option<String>> {
        self.text(path)
    }

    fn paths(&self) -> Result<Arc<[String]>> {
        let mut paths = Vec::new();
        self.walk("", &mut paths)?;
        paths.sort();
        Ok(paths.into())
    }

    fn changed_since(&self, _reference: &str) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
}
