//! Looks at a repository and writes down what a project's record and its lists tell of it.

use std::time::Duration;

use kernel::{Error, Result, ids::ProjectId};
use org::project::{
    statistics::{Findings, Statistics, save_findings},
    store::ProjectStore,
};
use repo::git::{Deadline, Oid, RefName, cli::Lane, reader::Reader};
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::app::App;

/// Counting languages asks for the size of every file.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Looks at a repository after a push.
#[derive(Debug, Serialize, Deserialize)]
pub struct SurveyRepository {
    pub project: ProjectId,
}

impl Job for SurveyRepository {
    const KIND: &'static str = "project.survey";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

impl SurveyRepository {
    pub async fn run(self, app: &App) -> Result<()> {
        survey(app, self.project).await
    }
}

/// Looks at a project's default branch now. A project that is gone by now is left alone.
pub async fn survey(app: &App, project: ProjectId) -> Result<()> {
    let found = app.db.read(move |tx| tx.find_project(project)).await?;
    let Some(found) = found else { return Ok(()) };
    if !app.storage.exists(project) {
        return Ok(());
    }
    let branch = found.default_branch.map(|branch| RefName::branch(&branch)).transpose()?;
    let wanted = branch.clone();
    let mut findings = app.git_read(project, move |reader| look(reader, wanted.as_ref())).await?;
    if let Some(branch) = branch {
        findings.statistics.commit_count = commits(app, project, &branch).await?;
    }
    app.db.write(move |tx| save_findings(tx, project, &findings)).await
}

fn look(reader: &Reader, branch: Option<&RefName>) -> Result<Findings> {
    let size = i64::try_from(reader.disk_size()?).unwrap_or(i64::MAX);
    let statistics = Statistics { commit_count: 0, repository_size: size };
    let nothing = Findings { statistics, ..Findings::default() };
    let Some(tip) = tip(reader, branch)? else { return Ok(nothing) };
    let path =
        |entry: Option<repo::git::EntryInfo>| entry.map(|entry| entry.path.to_text().into_owned());
    Ok(Findings {
        readme: path(reader.readme(tip)?),
        license: path(reader.license(tip)?),
        languages: languages_at(reader, tip)?,
        ..nothing
    })
}

fn tip(reader: &Reader, branch: Option<&RefName>) -> Result<Option<Oid>> {
    match branch {
        None => Ok(None),
        Some(branch) => Ok(reader.find_reference(branch)?.map(|found| found.target)),
    }
}

/// Languages and their bytes at the top of a branch, most first.
pub fn languages(reader: &Reader, branch: Option<&RefName>) -> Result<Vec<(String, i64)>> {
    match tip(reader, branch)? {
        None => Ok(Vec::new()),
        Some(tip) => languages_at(reader, tip),
    }
}

fn languages_at(reader: &Reader, tip: Oid) -> Result<Vec<(String, i64)>> {
    let found = reader.languages(tip, Deadline::after(TIME_LIMIT))?;
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    Ok(found.into_iter().map(|(name, bytes)| (name.to_owned(), signed(bytes))).collect())
}

async fn commits(app: &App, project: ProjectId, branch: &RefName) -> Result<i64> {
    let repository = app.storage.repository(project);
    let name = String::from_utf8_lossy(branch.as_bstr()).into_owned();
    let counted = app
        .git
        .at(&repository, "rev-list")
        .args(["--count", name.as_str(), "--"])
        .lane(Lane::Plumbing)
        .succeed()
        .await?;
    let text = String::from_utf8_lossy(&counted);
    text.trim().parse().map_err(Error::internal)
}
