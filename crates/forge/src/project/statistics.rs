//! Looks at a repository and writes down what a project's record and its lists tell of it, where no push does so: for
//! forks, for another default branch, and where a push could not.

use std::{sync::Arc, time::Duration};

use kernel::{
    Error, Result,
    access::ProjectFacts,
    head::{Growth, HeadFacts, LanguageBytes, RepositoryFigures},
    ids::ProjectId,
};
use org::project::{
    statistics::{Findings, StatisticsStore, save_findings},
    store::ProjectStore,
};
use repo::{
    commit::read::deadline,
    git::{Deadline, Oid, RefName, cli::ProcessClass, reader::Reader},
    push::head::marks,
};
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::Forge;

/// Counting languages asks for the size of every file.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Looks at a repository again.
#[derive(Debug, Serialize, Deserialize)]
pub struct RefreshStatistics {
    pub project: ProjectId,
}

impl Job for RefreshStatistics {
    const KIND: &'static str = "project.survey";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

impl RefreshStatistics {
    pub async fn run(self, forge: &Forge) -> Result<()> {
        refresh(forge, self.project).await
    }
}

/// So often is looked again when somebody pushed meanwhile.
const TRIES: usize = 5;
/// A push that was decided moves its refs within moments.
const MOMENT: Duration = Duration::from_millis(50);

/// Looks at a project's default branch now. A project that is gone by now is left alone.
pub async fn refresh(forge: &Forge, project: ProjectId) -> Result<()> {
    for _ in 0..TRIES {
        if survey_once(forge, project).await? {
            return Ok(());
        }
        tokio::time::sleep(MOMENT).await;
    }
    Err(Error::unavailable(format!("project {project} is pushed to without end")))
}

/// False when the branch moved, or became another, while it was looked at.
async fn survey_once(forge: &Forge, project: ProjectId) -> Result<bool> {
    let found = forge
        .db
        .read(move |tx| Ok((tx.find_project(project)?, tx.surveyed_head(project)?)))
        .await?;
    let (Some(found), before) = found else { return Ok(true) };
    if !forge.storage.exists(project) {
        return Ok(true);
    }
    let wanted = found.default_branch.as_deref().map(RefName::branch).transpose()?;
    let (mut findings, tip) =
        forge.git_read(project, move |reader| read_sizes(reader, wanted.as_ref())).await?;
    findings.branch = found.default_branch;
    if let (Some(tip), RepositoryFigures::All { commits, .. }) = (tip, &mut findings.shows.figures)
    {
        *commits = count(forge, project, tip).await?;
    }
    forge.db.write(move |tx| save_findings(tx, project, before.as_deref(), &findings)).await
}

fn read_sizes(reader: &Reader, branch: Option<&RefName>) -> Result<(Findings, Option<Oid>)> {
    let size = i64::try_from(reader.disk_size()?).unwrap_or(i64::MAX);
    let mut findings = Findings { branch: None, head: None, shows: HeadFacts::default(), size };
    let Some(tip) = tip(reader, branch)? else { return Ok((findings, None)) };
    let (readme, license) = marks(reader, tip)?;
    let figures = RepositoryFigures::All { commits: 0, languages: languages_at(reader, tip)? };
    findings.head = Some(tip.to_string());
    findings.shows = HeadFacts { readme, license, figures };
    Ok((findings, Some(tip)))
}

fn tip(reader: &Reader, branch: Option<&RefName>) -> Result<Option<Oid>> {
    match branch {
        None => Ok(None),
        Some(branch) => Ok(reader.find_reference(branch)?.map(|found| found.target)),
    }
}

fn languages_at(reader: &Reader, tip: Oid) -> Result<Vec<LanguageBytes>> {
    let found = reader.languages(tip, Deadline::after(TIME_LIMIT))?;
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    Ok(found.into_iter().map(|(name, bytes)| (name, signed(bytes))).collect())
}

async fn count(forge: &Forge, project: ProjectId, tip: Oid) -> Result<i64> {
    let repository = forge.storage.repository(project);
    let counted = forge
        .git
        .at(&repository, "rev-list")
        .args(["--count"])
        .id(tip)
        .lane(ProcessClass::Plumbing);
    let text = counted.succeed().await?;
    String::from_utf8_lossy(&text).trim().parse().map_err(Error::internal)
}

/// The share of a programming language in the bytes of a default branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanguageShare {
    pub name: &'static str,
    /// Hundredths of a percent.
    pub hundredths: i64,
}

/// The languages of a project's default branch, the most frequent first; none in an empty repository.
pub async fn language_shares(forge: &Forge, project: &ProjectFacts) -> Result<Vec<LanguageShare>> {
    let Some(branch) = &project.default_branch else { return Ok(Vec::new()) };
    let branch = RefName::branch(branch).map_err(Error::from)?;
    let answers = forge.answers.clone();
    let read = forge.git_read(project.id, move |reader| match reader.find_reference(&branch)? {
        Some(tip) => Ok(answers.languages(reader, tip.target, deadline())?),
        None => Ok(Arc::default()),
    });
    let found = read.await?;
    let all: u64 = found.iter().map(|(_, bytes)| bytes).sum();
    let shares = found.iter().map(|(name, bytes)| {
        let hundredths = (i128::from(*bytes) * 1_000_000 / i128::from(all.max(1)) + 50) / 100;
        LanguageShare { name, hundredths: i64::try_from(hundredths).unwrap_or(i64::MAX) }
    });
    Ok(shares.collect())
}

/// Notes how much room a repository takes after it was tidied.
pub async fn measure(forge: &Forge, project: ProjectId) -> Result<()> {
    if !forge.storage.exists(project) {
        return Ok(());
    }
    let size = forge.git_read(project, |reader| Ok(reader.disk_size()?)).await?;
    let size = Growth::To(i64::try_from(size).unwrap_or(i64::MAX));
    forge.db.write(move |tx| tx.record_growth(project, size)).await
}
