//! The projects whose vulnerabilities somebody watches.

use std::sync::Arc;

use forge::security::readers;
use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::ids::ProjectId;
use org::access::IdOrPath;
use security::{dashboard, policy::UseVulnerabilities};

use super::vulnerability_lists::{grades, scanners, severities, watched};
use crate::{
    context::Context,
    failure::{done, failure_of},
    pipelines::located_project::instance_grant,
    projects,
};

/// The projects that the caller watches, as far as they may see their vulnerabilities.
#[derive(Debug)]
struct DashboardRecord {
    projects: Vec<ProjectId>,
}

type Record = Arc<DashboardRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry.query().lookup("instanceSecurityDashboard", |_, _, context| async move {
        let found = watched(&context).await?;
        Ok(found.map_or(Value::Null, |projects| {
            Value::object("InstanceSecurityDashboard", Arc::new(DashboardRecord { projects }))
        }))
    });
    let _ = registry
        .object::<DashboardRecord>("InstanceSecurityDashboard")
        .lookup("projects", |record: Record, arguments, context| async move {
            list(&record, &arguments, &context).await
        })
        .lookup("vulnerabilityGrades", |record: Record, arguments, context| async move {
            grades(record.projects.clone(), &arguments, &context).await
        })
        .lookup("vulnerabilityScanners", |record: Record, arguments, context| async move {
            scanners(Some(record.projects.clone()), &arguments, &context).await
        })
        .lookup("vulnerabilitySeveritiesCount", |record: Record, arguments, context| async move {
            severities(Some(record.projects.clone()), &arguments, &context).await
        })
        .none(&["clusterAgents"]);
    registry.mutation("addProjectToSecurityDashboard", |input, context| async move {
        let id = ProjectId(input.gid("id", &["Project"])?);
        let actor = instance_grant::<UseVulnerabilities>(&context).map_err(failure_of)?.actor();
        let grant = readers::of_project(&context.forge, actor, IdOrPath::Id(id.0)).await;
        let grant = grant.map_err(failure_of)?;
        let added = context.forge.db.write(move |tx| dashboard::add(tx, &grant)).await;
        Ok(match done(added)? {
            Ok(()) => Payload::new().field("project", projects::of_id(&context, id).await?),
            Err(errors) => Payload::errors(errors),
        })
    });
    registry.mutation("removeProjectFromSecurityDashboard", |input, context| async move {
        let id = ProjectId(input.gid("id", &["Project"])?);
        let grant = instance_grant::<UseVulnerabilities>(&context).map_err(failure_of)?;
        let user = grant.user().map_err(failure_of)?;
        let removed = context.forge.db.write(move |tx| dashboard::remove(tx, user, id)).await;
        match removed.map_err(failure_of)? {
            true => Ok(Payload::new()),
            false => Err(Failure::NotFoundOrForbidden),
        }
    });
}

async fn list(
    record: &DashboardRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let search = arguments.maybe_text("search").map(|text| text.to_lowercase());
    let found = record.projects.iter().map(|id| projects::record_of(context, *id));
    let found = crate::join::try_join_all(found).await?.into_iter().flatten();
    let fits = |path: &str| search.as_ref().is_none_or(|text| path.to_lowercase().contains(text));
    let found = found.filter(|one| fits(&one.facts.full_path) || fits(&one.facts.name));
    Ok(Connection::of_list(&arguments.page()?, found.map(projects::project).collect()).into())
}
