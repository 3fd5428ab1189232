//! How much of what a pipeline may have: what administrators set, and who has reached it.

use ci::{
    config::{
        Refusal,
        input::{self, MOST_JOBS},
    },
    pipeline::{ActivityStore as _, Content, NewPipeline, Source},
};
use db::Tx;
use kernel::{
    Error, Result,
    ids::{ProjectId, UserId},
};
use org::settings::{Settings, store::SettingsStore as _};
use time::Duration;

/// Jobs of older pipelines do not count as active any more.
const ACTIVE_FOR: Duration = Duration::hours(24);

/// Limits of a compilation, as they are set now.
pub(super) fn of_compilation(tx: &mut Tx<'_>) -> Result<input::Limits> {
    Ok(limits(&tx.settings()?))
}

pub(super) fn limits(settings: &Settings) -> input::Limits {
    let plan = &settings.plan_limits;
    let number = |limit: i64| usize::try_from(limit).unwrap_or_default();
    let bound = |limit: i64| Some(number(limit)).filter(|limit| *limit > 0);
    input::Limits {
        yaml_size: u64::try_from(settings.max_yaml_size_bytes).unwrap_or_default(),
        yaml_depth: number(settings.max_yaml_depth),
        includes: number(settings.ci_max_includes),
        needs: number(plan.ci_needs_size_limit),
        jobs: bound(plan.ci_pipeline_size).or(Some(MOST_JOBS)),
        free_jobs: None,
        deployments: bound(plan.ci_pipeline_deployments),
    }
}

/// How many of so many branches and tags of a push get a pipeline, where others of it have moved before.
pub(super) fn refs_with_pipeline(tx: &mut Tx<'_>, moved: usize, earlier: usize) -> Result<usize> {
    // The first one always does.
    if moved.saturating_add(earlier) <= 1 {
        return Ok(moved);
    }
    let most = usize::try_from(tx.settings()?.git_push_pipeline_limit).unwrap_or_default();
    Ok(if most == 0 { moved } else { most.saturating_sub(earlier) })
}

/// Why nobody can have one more pipeline for a commit now; children belong to the pipeline that makes them.
pub(super) fn rate_excess(
    tx: &mut Tx<'_>,
    settings: &Settings,
    (project, user, source): (ProjectId, Option<UserId>, Source),
    sha: &str,
) -> Result<Option<&'static str>> {
    let most = settings.pipeline_limit_per_project_user_sha;
    let Some(user) = user.filter(|_| most > 0) else { return Ok(None) };
    if source == Source::ParentPipeline {
        return Ok(None);
    }
    let since = tx.now.plus(-Duration::minutes(1));
    let made = tx.count_pipelines_for(project, user, sha, since)?;
    Ok((made >= most).then_some("Too many pipelines created in the last minute. Try again later."))
}

/// How many jobs a pipeline of the project may have beside those that are active; `None` for any number.
pub(super) fn free_jobs(
    tx: &mut Tx<'_>,
    settings: &Settings,
    project: ProjectId,
) -> Result<Option<usize>> {
    let most = settings.plan_limits.ci_active_jobs;
    if most == 0 {
        return Ok(None);
    }
    let since = tx.now.plus(-ACTIVE_FOR);
    let free = most.saturating_sub(tx.count_active_jobs(project, since)?);
    Ok(Some(usize::try_from(free).unwrap_or_default()))
}

/// What is made where the project may have no more active jobs: for who asks by hand nothing, else a pipeline that says so.
/// The compilation looks too, without keeping others from making pipelines meanwhile.
///
/// # Errors
/// `BadRequest` on `base` with the sentence, where nothing is made.
pub(super) fn within_active_jobs(
    tx: &mut Tx<'_>,
    settings: &Settings,
    new: &NewPipeline,
    content: &Content,
) -> Result<Option<Content>> {
    let Content::Jobs(plan) = content else { return Ok(None) };
    let free = free_jobs(tx, settings, new.project)?;
    if free.is_none_or(|free| plan.job_count() <= free) {
        return Ok(None);
    }
    let refusal = Refusal::too_many_active_jobs();
    let (reason, sentence) = (refusal.failure_reason(), refusal.sentence());
    if matches!(new.source, Source::Api | Source::Web) {
        return Err(Error::invalid("base", &sentence));
    }
    Ok(Some(Content::Broken { reason, sentence }))
}

#[cfg(test)]
mod tests {
    use ci::config::input::Limits;
    use org::settings::Settings;

    use super::limits;

    #[test]
    fn the_settings_begin_with_the_limits_of_the_language() {
        assert_eq!(
            limits(&Settings::default()),
            Limits { yaml_size: 1 << 20, ..Limits::default() }
        );
    }
}
