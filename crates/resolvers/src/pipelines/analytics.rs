//! Figures of the pipelines of projects, and of what their tests cover.

use std::sync::Arc;

use ci::{
    pipeline::{CoverageFigures, DayFigures, Pipeline, PipelineStatistics as _, PipelineTime},
    policy::ReadPipelines,
};
use forge::artifact_sizes;
use graphql::{Failure, Registry, Value};
use kernel::{
    Ts,
    ids::{NamespaceId, ProjectId},
};
use time::{Date, Duration};

use super::{
    located_project::LocatedProject,
    pipeline::{short_sha, shown_home},
};
use crate::{context::Context, failure::failure_of, loaders::BatchLoader, projects::ProjectRecord};

/// The pipelines whose times are told.
const TIMED: i64 = 30;
/// The days of the two charts of days, without today.
const WEEK: i64 = 7;
const MONTH: i64 = 30;

/// A branch of a project.
type Branch = (ProjectId, String);

/// Loaders of project analytics.
pub struct FigureLoaders {
    coverage: BatchLoader<Branch, CoverageFigures>,
    /// The newest pipelines of branches.
    pub newest_of_branch: BatchLoader<Branch, Pipeline>,
    /// Bytes of the artifacts of projects.
    pub artifact_sizes: BatchLoader<ProjectId, i64>,
    /// The same of all projects inside groups, for those who own these.
    pub artifact_sizes_below: BatchLoader<NamespaceId, i64>,
}

impl FigureLoaders {
    pub fn of(context: &Context) -> Arc<Self> {
        context.loaders.of(|db| Self {
            coverage: BatchLoader::new(db, |tx, branches| tx.coverage_of_branches(branches)),
            newest_of_branch: BatchLoader::new(db, |tx, branches| tx.newest_of_branches(branches)),
            artifact_sizes: BatchLoader::new(db, artifact_sizes::of_projects),
            artifact_sizes_below: BatchLoader::new(db, artifact_sizes::of_trees),
        })
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup("pipelineAnalytics", |record: Arc<ProjectRecord>, _, context| async move {
            analytics(&record, &context).await
        })
        .lookup("codeCoverageSummary", |record: Arc<ProjectRecord>, _, context| async move {
            coverage(&record, &context).await
        });
}

/// The figures of one chart, a number for each label.
#[derive(Debug, Default, PartialEq, Eq)]
struct Chart {
    labels: Vec<String>,
    totals: Vec<i64>,
    succeeded: Vec<i64>,
}

impl Chart {
    fn push(&mut self, label: String, days: impl Iterator<Item = DayFigures>) {
        let (total, succeeded) =
            days.fold((0, 0), |sum, day| (sum.0 + day.total, sum.1 + day.succeeded));
        self.labels.push(label);
        self.totals.push(total);
        self.succeeded.push(succeeded);
    }
}

/// The last days, with today.
fn by_day(figures: &[DayFigures], today: Date, days: i64) -> Chart {
    let mut chart = Chart::default();
    for back in (0..=days).rev() {
        let day = today.saturating_sub(Duration::days(back));
        let own = figures.iter().copied().filter(|one| one.day == day);
        chart.push(format!("{:02} {}", day.day(), day.month()), own);
    }
    chart
}

/// The months since that of a year ago, with this one.
fn by_month(figures: &[DayFigures], today: Date) -> Chart {
    let mut chart = Chart::default();
    let (mut year, mut month) = (today.year().saturating_sub(1), today.month());
    for _ in 0..=12 {
        let own = figures.iter().copied();
        let own = own.filter(|one| (one.day.year(), one.day.month()) == (year, month));
        chart.push(format!("{month} {year}"), own);
        year = if month == time::Month::December { year.saturating_add(1) } else { year };
        month = month.next();
    }
    chart
}

/// The day on which the chart of months begins.
fn first_day(today: Date) -> Date {
    Date::from_calendar_date(today.year().saturating_sub(1), today.month(), 1).unwrap_or(today)
}

async fn analytics(record: &ProjectRecord, context: &Context) -> Result<Value, Failure> {
    let Some(home) = shown_home(context, &LocatedProject::of(record)).await? else {
        return Ok(Value::Null);
    };
    if !home.may::<ReadPipelines>() {
        return Ok(Value::Null);
    }
    let (project, today) = (record.id(), context.forge.db.clock().now().date());
    let read = context.forge.db.read(move |tx| {
        let since = Ts::from_date(first_day(today));
        Ok((tx.pipelines_by_day(project, since)?, tx.newest_times(project, TIMED)?))
    });
    let (figures, times) = read.await.map_err(failure_of)?;
    Ok(analytics_value(&figures, &times, today))
}

fn analytics_value(figures: &[DayFigures], times: &[PipelineTime], today: Date) -> Value {
    let numbers = |numbers: Vec<i64>| Value::list(numbers.into_iter().map(Value::Int));
    let (week, month) = (by_day(figures, today, WEEK), by_day(figures, today, MONTH));
    let year = by_month(figures, today);
    Value::fields(
        "PipelineAnalytics",
        [
            ("monthPipelinesLabels", month.labels.into()),
            ("monthPipelinesSuccessful", numbers(month.succeeded)),
            ("monthPipelinesTotals", numbers(month.totals)),
            (
                "pipelineTimesLabels",
                Value::list(times.iter().map(|one| Value::from(short_sha(&one.sha)))),
            ),
            ("pipelineTimesValues", numbers(times.iter().map(|one| one.duration / 60).collect())),
            ("weekPipelinesLabels", week.labels.into()),
            ("weekPipelinesSuccessful", numbers(week.succeeded)),
            ("weekPipelinesTotals", numbers(week.totals)),
            ("yearPipelinesLabels", year.labels.into()),
            ("yearPipelinesSuccessful", numbers(year.succeeded)),
            ("yearPipelinesTotals", numbers(year.totals)),
        ],
    )
}

/// What the tests of the default branch cover; nothing where they tell nothing.
async fn coverage(record: &ProjectRecord, context: &Context) -> Result<Value, Failure> {
    let Some(home) = shown_home(context, &LocatedProject::of(record)).await? else {
        return Ok(Value::Null);
    };
    let branch = record.facts.default_branch.clone().filter(|_| home.may::<ReadPipelines>());
    let Some(branch) = branch else { return Ok(Value::Null) };
    let found = FigureLoaders::of(context).coverage.load((record.id(), branch)).await?;
    Ok(found.map_or(Value::Null, |found| {
        let hundredths = (found.average * 100.0).round() / 100.0;
        Value::fields(
            "CodeCoverageSummary",
            [
                ("averageCoverage", hundredths.into()),
                ("coverageCount", found.jobs.into()),
                ("lastUpdatedOn", Value::date(found.day)),
            ],
        )
    }))
}

#[cfg(test)]
mod tests {
    use ci::pipeline::DayFigures;
    use time::macros::date;

    use super::{by_day, by_month, first_day};

    #[test]
    fn charts_have_a_number_for_each_day_and_month() {
        let today = date!(2026 - 01 - 05);
        let of = |day, total, succeeded| DayFigures { day, total, succeeded };
        let figures = [of(date!(2025 - 01 - 31), 2, 1), of(date!(2026 - 01 - 04), 3, 2)];
        let week = by_day(&figures, today, 7);
        assert_eq!((week.labels.len(), week.totals), (8, vec![0, 0, 0, 0, 0, 0, 3, 0]));
        assert_eq!(week.labels.first().map(String::as_str), Some("29 December"));
        let year = by_month(&figures, today);
        assert_eq!(year.labels.first().map(String::as_str), Some("January 2025"));
        assert_eq!(year.labels.last().map(String::as_str), Some("January 2026"));
        assert_eq!((year.totals[0], year.succeeded[0], year.totals[12]), (2, 1, 3));
        assert_eq!(first_day(today), date!(2025 - 01 - 01));
    }
}
