//! The text of an included file, or why there is none.

use super::{Inclusion, location::Location};
use crate::config::{
    StepFailure,
    input::{Artifact, FetchFailure, Project, Tree},
    templates,
};

pub(super) const TEMPLATE_END: &str = ".gitlab-ci.yml";

/// The files of another project that the person may read.
pub(super) fn project<'f>(
    inclusion: &Inclusion<'f, '_>,
    project: &str,
    reference: Option<&str>,
) -> Result<Box<dyn Tree + 'f>, StepFailure> {
    let shown = inclusion.masked(project);
    match inclusion.given.fetch.project(project, reference).map_err(StepFailure::Fault)? {
        Project::Found(tree) => Ok(tree),
        Project::NotFound => Err(StepFailure::problem(format!(
            "Project `{shown}` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined."
        ))),
        Project::NoReference => {
            let reference = inclusion.masked(reference.unwrap_or("HEAD"));
            Err(StepFailure::problem(format!(
                "Project `{shown}` reference `{reference}` does not exist!"
            )))
        }
    }
}

/// `None` for a file that has yet to be fetched.
pub(super) fn text(
    inclusion: &Inclusion<'_, '_>,
    location: &Location,
    tree: &dyn Tree,
) -> Result<Option<String>, StepFailure> {
    let name = inclusion.masked(location.name());
    let found = match location {
        Location::Local(path) => {
            let text = tree.text(path).map_err(StepFailure::Fault)?;
            present(text, &format!("Local file `{name}`"))
        }
        Location::Project { project, file, .. } => {
            let text = tree.text(file).map_err(StepFailure::Fault)?;
            let project = inclusion.masked(project);
            present(text, &format!("Project `{project}` file `{name}`"))
        }
        Location::Remote(address) => {
            return remote(inclusion, address, &name).map_err(StepFailure::problem);
        }
        Location::Template(template) => {
            let stem = template.strip_suffix(TEMPLATE_END).unwrap_or(template);
            let own = match templates::find(stem) {
                Some(text) => Some(text.to_owned()),
                None => inclusion.given.fetch.template(template).map_err(StepFailure::Fault)?,
            };
            own.filter(|text| !text.trim().is_empty()).ok_or_else(|| missing(&name))
        }
        Location::Artifact { job, file } => {
            return artifact(inclusion, job.as_deref(), file, &name).map(Some);
        }
        Location::Odd(_) => Err(missing(&name)),
    };
    found.map(Some).map_err(StepFailure::problem)
}

fn missing(name: &str) -> String {
    format!("Included file `{name}` is empty or does not exist!")
}

fn present(text: Option<String>, what: &str) -> Result<String, String> {
    match text {
        None => Err(format!("{what} does not exist!")),
        Some(text) if text.trim().is_empty() => Err(format!("{what} is empty!")),
        Some(text) => Ok(text),
    }
}

fn remote(
    inclusion: &Inclusion<'_, '_>,
    address: &str,
    name: &str,
) -> Result<Option<String>, String> {
    let reason = match inclusion.given.fetch.remote(address) {
        Ok(text) if text.trim().is_empty() => return Err(missing(name)),
        Ok(text) => return Ok(Some(text)),
        Err(FetchFailure::Pending) => return Ok(None),
        Err(FetchFailure::Status(status)) => format!("of HTTP code `{status}` error"),
        Err(FetchFailure::Timeout) => "of a timeout error".to_owned(),
        Err(FetchFailure::Socket) => "of a socket error".to_owned(),
        Err(FetchFailure::Refused(words)) => words,
        Err(FetchFailure::Other) => "of HTTP error".to_owned(),
    };
    Err(format!("Remote file `{name}` could not be fetched because {reason}!"))
}

fn artifact(
    inclusion: &Inclusion<'_, '_>,
    job: Option<&str>,
    file: &str,
    name: &str,
) -> Result<String, StepFailure> {
    let Some(job) = job else {
        return Err(StepFailure::problem(
            "Job must be provided when including configs from artifacts",
        ));
    };
    let found = inclusion.given.fetch.artifact(job, file).map_err(StepFailure::Fault)?;
    let job = inclusion.masked(job);
    let problem = match found {
        Artifact::Text(text) if !text.trim().is_empty() => return Ok(text),
        Artifact::Text(_) => missing(name),
        Artifact::NoFile => {
            format!("Path `{name}` does not exist inside the `{job}` artifacts archive!")
        }
        Artifact::Folder => {
            format!("Path `{name}` was expected to be a file but it was a directory!")
        }
        Artifact::TooLarge => {
            format!("Artifacts archive for job `{job}` is too large: max 5 MB")
        }
        Artifact::NoJob => {
            format!("Job `{job}` not found in parent pipeline or does not have artifacts!")
        }
        Artifact::NoParent => {
            "Including configs from artifacts is only allowed when triggering child pipelines"
                .to_owned()
        }
    };
    Err(StepFailure::problem(problem))
}
