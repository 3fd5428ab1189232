//! CI settings of projects and the installation, and whose jobs reach a project with their tokens.

use std::sync::Arc;

use ci::{
    job_token_scope::actions,
    policy::{ChangeJobTokenScope, ReadJobTokenScope},
};
use forge::job_token::set_inbound;
use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::{Grant, access::Administrate, ids::ProjectId};
use org::{
    access::{IdOrPath, locate_project, standings_of_one},
    hierarchy::known_groups,
    policy::AdminProject,
    project::{
        ProjectChange, actions as project_actions,
        settings::{Settings, SettingsChange, SettingsStore as _},
    },
};

use super::{
    loaders::CiLoaders,
    located_project::{self, LocatedProject, instance_grant},
};
use crate::{
    context::Context,
    failure::{done, failure_of, visible},
    groups,
    projects::{self, ProjectRecord},
};

/// CI settings of a project.
#[derive(Debug)]
struct CiSettingsRecord {
    project: ProjectId,
    settings: Arc<Settings>,
}

/// The job token scope of a project.
#[derive(Debug)]
struct ScopeRecord {
    home: Arc<LocatedProject>,
}

impl CiSettingsRecord {
    fn value(project: ProjectId, settings: Arc<Settings>) -> Value {
        Value::object("ProjectCiCdSetting", Arc::new(Self { project, settings }))
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry.query().lookup("ciApplicationSettings", |_, _, context| async move {
        let grant: Option<Grant<Administrate>> = visible(instance_grant(&context))?;
        let keeps = context.forge.settings().keep_latest_artifact;
        Ok(grant.map_or(Value::Null, |_| {
            Value::fields("CiApplicationSettings", [("keepLatestArtifact", keeps.into())])
        }))
    });
    register_project(registry);
    register_settings(registry);
    register_scope(registry);
    for name in ["projectCiCdSettingsUpdate", "ciCdSettingsUpdate"] {
        registry.mutation(name, |input, context| async move { update(&input, &context).await });
    }
    registry.mutation("ciJobTokenScopeAddProject", |input, context| async move {
        change_scope(&input, &context, true).await
    });
    registry.mutation("ciJobTokenScopeRemoveProject", |input, context| async move {
        change_scope(&input, &context, false).await
    });
}

fn register_project(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup("ciCdSettings", |record: Arc<ProjectRecord>, _, context| async move {
            let home = LocatedProject::of(&record);
            if !home.may::<ReadJobTokenScope>() {
                return Ok(Value::Null);
            }
            let found = CiLoaders::of(&context).settings.load(home.id()).await?;
            Ok(CiSettingsRecord::value(home.id(), found.unwrap_or_default()))
        })
        .lookup("ciJobTokenScope", |record: Arc<ProjectRecord>, _, _| async move {
            let home = LocatedProject::of(&record);
            Ok(match home.may::<ReadJobTokenScope>() {
                true => Value::object("CiJobTokenScopeType", Arc::new(ScopeRecord { home })),
                false => Value::Null,
            })
        });
}

fn register_settings(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<CiSettingsRecord>("ProjectCiCdSetting")
        .plain("inboundJobTokenScopeEnabled", |record| {
            record.settings.ci_inbound_job_token_scope_enabled.into()
        })
        .plain("jobTokenScopeEnabled", |record| record.settings.ci_job_token_scope_enabled.into())
        .plain("keepLatestArtifact", |record| record.settings.keep_latest_artifact.into())
        .plain("mergePipelinesEnabled", |record| record.settings.merge_pipelines_enabled.into())
        .plain("mergeTrainsEnabled", |record| record.settings.merge_trains_enabled.into())
        .lookup("project", |record: Arc<CiSettingsRecord>, _, context| async move {
            projects::of_id(&context, record.project).await
        });
}

fn register_scope(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ScopeRecord>("CiJobTokenScopeType")
        .lookup("projects", |record: Arc<ScopeRecord>, arguments, context| async move {
            listed_projects(&record, &arguments, &context).await
        })
        .lookup("inboundAllowlist", |record: Arc<ScopeRecord>, arguments, context| async move {
            listed_projects(&record, &arguments, &context).await
        })
        .lookup("outboundAllowlist", |record: Arc<ScopeRecord>, arguments, context| async move {
            let own = projects::of_id(&context, record.home.id()).await?;
            Ok(Connection::of_list(&arguments.page()?, vec![own]).into())
        })
        .lookup("groupsAllowlist", |record: Arc<ScopeRecord>, arguments, context| async move {
            let grant = record.home.grant::<ReadJobTokenScope>().map_err(failure_of)?;
            let read = context.forge.db.read(move |tx| {
                let listed = actions::groups(tx, &grant)?;
                known_groups(tx, grant.actor(), &listed)
            });
            let known = read.await.map_err(failure_of)?;
            let shown = known.iter().map(|group| groups::of_id(&context, group.id));
            let shown = crate::join::try_join_all(shown).await?;
            Ok(Connection::of_list(&arguments.page()?, shown).into())
        });
}

/// The project itself first, then those that it lists, as far as the caller may know of them.
async fn listed_projects(
    record: &ScopeRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let grant = record.home.grant::<ReadJobTokenScope>().map_err(failure_of)?;
    let read = context.forge.db.read(move |tx| {
        let listed = actions::projects(tx, &grant)?;
        let seen = standings_of_one::in_projects(tx, grant.actor(), &listed)?;
        Ok(listed.into_iter().filter(|id| seen.contains_key(id)).collect::<Vec<_>>())
    });
    let ids = read.await.map_err(failure_of)?;
    let shown = ids.into_iter().map(|id| projects::of_id(context, id));
    let shown = crate::join::try_join_all(shown).await?;
    Ok(Connection::of_list(&arguments.page()?, shown).into())
}

async fn update(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let home = located_project::at(context, input.text("fullPath")?).await?;
    let grant = home.grant::<AdminProject>().map_err(failure_of)?;
    let inbound = input.maybe_bool("inboundJobTokenScopeEnabled");
    let settings = SettingsChange {
        ci_job_token_scope_enabled: input.maybe_bool("jobTokenScopeEnabled"),
        keep_latest_artifact: input.maybe_bool("keepLatestArtifact"),
        merge_pipelines_enabled: input.maybe_bool("mergePipelinesEnabled"),
        merge_trains_enabled: input.maybe_bool("mergeTrainsEnabled"),
        ..SettingsChange::default()
    };
    let change = ProjectChange { settings, ..ProjectChange::default() };
    let id = home.id();
    let written = context.forge.db.write(move |tx| {
        project_actions::update(tx, &grant, &change)?;
        if let Some(inbound) = inbound {
            set_inbound(tx, &grant.also::<ChangeJobTokenScope>()?, inbound)?;
        }
        tx.project_settings(id)
    });
    let (settings, errors) = match done(written.await)? {
        Ok(settings) => (settings, Vec::new()),
        Err(errors) => {
            let read = context.forge.db.read(move |tx| tx.project_settings(id)).await;
            (read.map_err(failure_of)?, errors)
        }
    };
    let value = CiSettingsRecord::value(id, Arc::new(settings));
    Ok(Payload::errors(errors).field("ciCdSettings", value))
}

/// What tokens of this project reach is no list here: they are limited to the project, or not at all.
const NO_OUTBOUND: &str = "Projects cannot be added to or removed from the outbound allowlist.";

async fn change_scope(
    input: &Arguments,
    context: &Context,
    adds: bool,
) -> Result<Payload, Failure> {
    let home = located_project::at(context, input.text("projectPath")?).await?;
    let grant = home.grant::<ChangeJobTokenScope>().map_err(failure_of)?;
    let target = IdOrPath::Path(input.text("targetProjectPath")?);
    if input.maybe_enum("direction").as_deref() == Some("OUTBOUND") {
        return Ok(Payload::errors(vec![NO_OUTBOUND.to_owned()]));
    }
    let written = context.forge.db.write(move |tx| {
        let (project, _) = locate_project(tx, grant.actor(), &target)?;
        match adds {
            true => actions::add_project(tx, &grant, project.0.id),
            false => actions::remove_project(tx, &grant, project.0.id, |_| Ok(())),
        }
    });
    Ok(match done(written.await)? {
        Ok(()) => {
            let record = Arc::new(ScopeRecord { home });
            Payload::new().field("ciJobTokenScope", Value::object("CiJobTokenScopeType", record))
        }
        Err(errors) => Payload::errors(errors),
    })
}
