//! The ports of `runners`.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId},
};
use org::{
    access, project::settings::SettingsStore as _, runner_places,
    settings::store::SettingsStore as _,
};
use runners::{ports, runner::RunnerType};
use time::Duration;

/// The roles of people, as `org` knows them.
#[derive(Clone, Copy, Debug)]
pub struct Roles;

impl ports::Roles for Roles {
    fn in_project(&self, tx: &mut Tx<'_>, actor: Actor, project: ProjectId) -> Result<AccessLevel> {
        access::level_in_project(tx, actor, project)
    }

    fn highest_in_projects(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<AccessLevel> {
        let found = access::locate_projects(tx, actor, projects)?;
        let highest = found.into_iter().map(|(_, who)| who.level).max();
        Ok(highest.unwrap_or(AccessLevel::NoAccess))
    }

    fn in_group(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<AccessLevel> {
        access::level_in_namespace(tx, actor, group)
    }

    fn projects(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<ProjectId>> {
        runner_places::projects_with_role(tx, actor, at_least)
    }

    fn groups(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<NamespaceId>> {
        runner_places::groups_with_role(tx, actor, at_least)
    }
}

/// The lifetimes of runner tokens, as the settings say. Of several that fit, the shortest counts.
#[derive(Clone, Copy, Debug)]
pub struct TokenLifetimes;

impl ports::TokenLifetimes for TokenLifetimes {
    fn of_runner(
        &self,
        tx: &mut Tx<'_>,
        runner_type: RunnerType,
        projects: &[ProjectId],
    ) -> Result<Option<Duration>> {
        let settings = tx.settings()?;
        let seconds = match runner_type {
            RunnerType::Instance => settings.runner_token_expiration_interval(),
            RunnerType::Group => settings.group_runner_token_expiration_interval(),
            RunnerType::Project => {
                let own = tx.settings_by_project(projects)?;
                let own = own.values().filter_map(|own| own.runner_token_expiration_interval);
                let all = own.chain(settings.project_runner_token_expiration_interval());
                all.filter(|seconds| *seconds > 0).min()
            }
        };
        Ok(seconds.map(Duration::seconds))
    }
}
